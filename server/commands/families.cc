#include "server/commands/families.h"

#include <array>

namespace respite {

std::span<const std::span<const CommandCard>> CommandFamilies() {
#define RESPITE_TABLE_OF(Name) Name(),
  static const std::array kFamilies = {RESPITE_COMMAND_FAMILIES(RESPITE_TABLE_OF)};
#undef RESPITE_TABLE_OF
  return kFamilies;
}

std::shared_ptr<const CommandSet> AllCommands(Where where) {
  static const auto kOfDataServers = std::make_shared<const CommandSet>(CommandFamilies());
  if (where == Where::kDataServers) return kOfDataServers;
  static const auto kOfSentinels = std::make_shared<const CommandSet>(CommandFamilies(), where);
  return kOfSentinels;
}

}  // namespace respite
