#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr auto kClientCommands = Family<>();

}  // namespace

std::span<const CommandCard> ClientCommands() { return kClientCommands; }

}  // namespace respite
