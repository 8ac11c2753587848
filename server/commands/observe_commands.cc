#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr auto kObserveCommands = Family<>();

}  // namespace

std::span<const CommandCard> ObserveCommands() { return kObserveCommands; }

}  // namespace respite
