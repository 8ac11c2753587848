#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr auto kKeyCommands = Family<>();

}  // namespace

std::span<const CommandCard> KeyCommands() { return kKeyCommands; }

}  // namespace respite
