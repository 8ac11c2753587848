// The SENTINEL commands of a server that is a Sentinel.
#include "server/commands/families.h"
#include "server/commands/sentinel/change_cards.h"
#include "server/commands/sentinel/report_cards.h"

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
  static constexpr auto kSubcommands =
      Family<SentinelCkQuorum, SentinelConfig, SentinelDebug, SentinelFailover, SentinelFlushConfig,
             SentinelGetMasterAddrByName, SentinelGetPrimaryAddrByName, SentinelHelp, SentinelInfoCache,
             SentinelIsMasterDownByAddr, SentinelIsPrimaryDownByAddr, SentinelMaster, SentinelMasters, SentinelMonitor,
             SentinelMyId, SentinelPendingScripts, SentinelPrimaries, SentinelPrimary, SentinelRemove, SentinelReplicas,
             SentinelReset, SentinelSentinels, SentinelSet, SentinelSimulateFailure, SentinelSlaves>();
};

constexpr auto kSentinelCommands = Family<SentinelContainer>();

}  // namespace

std::span<const CommandCard> SentinelCommands() { return kSentinelCommands; }

}  // namespace respite
