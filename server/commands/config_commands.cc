#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr auto kConfigCommands = Family<>();

}  // namespace

std::span<const CommandCard> ConfigCommands() { return kConfigCommands; }

}  // namespace respite
