#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr auto kCommandCommands = Family<>();

}  // namespace

std::span<const CommandCard> CommandCommands() { return kCommandCommands; }

}  // namespace respite
