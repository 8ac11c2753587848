#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr auto kDebugCommands = Family<>();

}  // namespace

std::span<const CommandCard> DebugCommands() { return kDebugCommands; }

}  // namespace respite
