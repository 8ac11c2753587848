#include "server/commands/families.h"

#include <array>

namespace respite {

std::span<const std::span<const CommandCard>> CommandFamilies() {
#define RESPITE_TABLE_OF(Name) Name(),
  static const std::array kFamilies = {RESPITE_COMMAND_FAMILIES(RESPITE_TABLE_OF)};
#undef RESPITE_TABLE_OF
  return kFamilies;
}

std::shared_ptr<const CommandSet> AllCommands() {
  static const auto kAll = std::make_shared<const CommandSet>(CommandFamilies());
  return kAll;
}

}  // namespace respite
