#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr auto kMemoryCommands = Family<>();

}  // namespace

std::span<const CommandCard> MemoryCommands() { return kMemoryCommands; }

}  // namespace respite
