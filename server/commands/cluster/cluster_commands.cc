// CLUSTER, ASKING, READONLY and READWRITE. A server without cluster mode refuses them, so that clients that probe for a
// cluster continue without one.
#include "server/commands/cluster/node_cards.h"
#include "server/commands/cluster/report_cards.h"
#include "server/commands/cluster/slot_cards.h"
#include "server/commands/cluster/slot_migration_cards.h"
#include "server/commands/families.h"

namespace respite {

namespace {

struct ClusterContainer {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER",
                                       .summary = "Contains the subcommands about the cluster.",
                                       .since = "3.0.0",
                                       .group = CommandGroup::kCluster,
                                       .arity = -2};
  static constexpr auto kSubcommands =
      Family<ClusterAddSlots, ClusterAddSlotsRange, ClusterBumpEpoch, ClusterCancelSlotMigrations,
             ClusterCountFailureReports, ClusterCountKeysInSlot, ClusterDelSlots, ClusterDelSlotsRange, ClusterFailover,
             ClusterFlushSlots, ClusterForget, ClusterGetKeysInSlot, ClusterGetSlotMigrations, ClusterHelp, ClusterInfo,
             ClusterKeySlot, ClusterLinks, ClusterMeet, ClusterMigrateSlots, ClusterMyId, ClusterMyShardId,
             ClusterNodes, ClusterReplicas, ClusterReplicate, ClusterReset, ClusterSaveConfig, ClusterSetConfigEpoch,
             ClusterSetSlot, ClusterShards, ClusterSlaves, ClusterSlotStats, ClusterSlots, ClusterSyncSlots>();
};

constexpr auto kClusterCommands = Family<Asking, ClusterContainer, ClusterScan, ReadOnly, ReadWrite>();

}  // namespace

std::span<const CommandCard> ClusterCommands() { return kClusterCommands; }

}  // namespace respite
