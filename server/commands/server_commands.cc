#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr auto kServerCommands = Family<>();

}  // namespace

std::span<const CommandCard> ServerCommands() { return kServerCommands; }

}  // namespace respite
