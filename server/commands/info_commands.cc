#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr auto kInfoCommands = Family<>();

}  // namespace

std::span<const CommandCard> InfoCommands() { return kInfoCommands; }

}  // namespace respite
