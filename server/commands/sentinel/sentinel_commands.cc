// SENTINEL, the main command of a Sentinel. The other files of this folder have the subcommands.
#include "server/commands/sentinel/sentinel_commands.h"

#include "server/commands/families.h"

namespace respite {

namespace {

struct SentinelContainer {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL",
                                       .where = Where::kSentinels,
                                       .summary = "Contains the subcommands of a Sentinel.",
                                       .since = "2.8.4",
                                       .complexity = "Depends on the subcommand.",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin,
                                       .arity = -2};
};

constexpr auto kSentinelCommands = Family<SentinelContainer>();

}  // namespace

std::span<const CommandCard> SentinelCommands() { return kSentinelCommands; }

}  // namespace respite
