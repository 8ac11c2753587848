#include "server/commands/families.h"

#include <array>

namespace respite {

std::span<const std::span<const CommandCard>> CommandFamilies() {
  static const std::array kFamilies = {StringCommands(), ConnectionCommands(), CommandCommands()};
  return kFamilies;
}

}  // namespace respite
