#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr auto kDatabaseCommands = Family<>();

}  // namespace

std::span<const CommandCard> DatabaseCommands() { return kDatabaseCommands; }

}  // namespace respite
