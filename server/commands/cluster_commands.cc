// CLUSTER, ASKING, READONLY and READWRITE. They answer as a Redis without cluster mode does, so clients that look for a
// cluster continue without one.
#include "server/commands/families.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kClusterDisabled[] = "ERR This instance has cluster support disabled";

}  // namespace
}  // namespace refusals

namespace {

// Base of commands that do nothing but refuse once their arity is right.
struct Disabled {
  static constexpr std::string_view kRefuses = "there is no cluster";
  static void Run(Call&) { throw Refusal{refusals::kClusterDisabled}; }
};

struct Asking : Disabled {
  static constexpr CommandSpec spec = {.syntax = "ASKING",
                                       .summary = "Announces that the next request follows an ASK redirection.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kFast,
                                       .categories = kAclConnection};
};

struct ClusterAddSlots : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|ADDSLOTS slot:integer...",
                                       .summary = "Assigns hash slots to this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N slots",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterAddSlotsRange : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|ADDSLOTSRANGE range{start-slot:integer end-slot:integer}...",
                                       .summary = "Assigns ranges of hash slots to this node.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N slots in the ranges",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterBumpEpoch : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|BUMPEPOCH",
                                       .summary = "Raises the configuration epoch of this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading,
                                       .tips = "nondeterministic_output"};
};

struct ClusterCountFailureReports : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|COUNT-FAILURE-REPORTS node-id",
                                       .summary = "Counts the active failure reports about a node.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N failure reports",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale,
                                       .tips = "nondeterministic_output"};
};

struct ClusterCountKeysInSlot : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|COUNTKEYSINSLOT slot:integer",
                                       .summary = "Counts the keys of a hash slot.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale};
};

struct ClusterDelSlots : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|DELSLOTS slot:integer...",
                                       .summary = "Removes hash slots from this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N slots",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterDelSlotsRange : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|DELSLOTSRANGE range{start-slot:integer end-slot:integer}...",
                                       .summary = "Removes ranges of hash slots from this node.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N slots in the ranges",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterFailover : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|FAILOVER [options(FORCE|TAKEOVER)]",
                                       .summary = "Makes this replica take over from its master.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterFlushSlots : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|FLUSHSLOTS",
                                       .summary = "Removes all hash slots from this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterForget : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|FORGET node-id",
                                       .summary = "Removes a node from the table of known nodes.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterGetKeysInSlot : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|GETKEYSINSLOT slot:integer count:integer",
                                       .summary = "Names keys of a hash slot.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N keys asked for",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
};

struct ClusterHelp : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|HELP",
                                       .summary = "Lists the subcommands of CLUSTER.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale};
};

struct ClusterInfo : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|INFO",
                                       .summary = "Returns the state of the cluster.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
};

struct ClusterKeySlot : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|KEYSLOT key:string",
                                       .summary = "Returns the hash slot of a key.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N bytes of the key",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale};
};

struct ClusterLinks : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|LINKS",
                                       .summary = "Lists the links to the other nodes.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N links",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
};

struct ClusterMeet : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|MEET ip port:integer [cluster-bus-port:integer@4.0.0]",
                                       .summary = "Connects this node to another one.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterMyId : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|MYID",
                                       .summary = "Tells the id of this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale};
};

struct ClusterMyShardId : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|MYSHARDID",
                                       .summary = "Returns the ID of the shard of this node.",
                                       .since = "7.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
};

struct ClusterNodes : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|NODES",
                                       .summary = "Describes all nodes, one line for each.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
};

struct ClusterReplicas : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|REPLICAS node-id",
                                       .summary = "Lists the replicas of a master.",
                                       .since = "5.0.0",
                                       .complexity = "O(N) for N replicas",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale,
                                       .tips = "nondeterministic_output"};
};

struct ClusterReplicate : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|REPLICATE node-id",
                                       .summary = "Makes this node a replica of another.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterReset : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|RESET [reset-type(HARD|SOFT)]",
                                       .summary = "Removes this node from its cluster.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N known nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kNoScript | kStale};
};

struct ClusterSaveConfig : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SAVECONFIG",
                                       .summary = "Writes the configuration of the cluster to disk.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterSetConfigEpoch : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SET-CONFIG-EPOCH config-epoch:integer",
                                       .summary = "Sets the configuration epoch of a new node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterSetSlot : Disabled {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLUSTER|SETSLOT slot:integer subcommand(IMPORTING importing<node-id>|MIGRATING "
          "migrating<node-id>|NODE node<node-id>|STABLE)",
      .summary = "Sets the owner of a hash slot, or the state of its migration.",
      .since = "3.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kCluster,
      .flags = kAdmin | kStale | kNoAsyncLoading};
};

struct ClusterShards : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SHARDS",
                                       .summary = "Maps the hash slots to shards and their nodes.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale,
                                       .tips = "nondeterministic_output"};
};

struct ClusterSlaves : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SLAVES node-id",
                                       .summary = "The old name of CLUSTER REPLICAS.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N replicas",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale,
                                       .tips = "nondeterministic_output",
                                       .deprecated_since = "5.0.0",
                                       .replaced_by = "`CLUSTER REPLICAS`"};
};

struct ClusterSlots : Disabled {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SLOTS",
                                       .summary = "Maps the hash slots to nodes.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale,
                                       .tips = "nondeterministic_output",
                                       .deprecated_since = "7.0.0",
                                       .replaced_by = "`CLUSTER SHARDS`"};
};

struct ReadOnly : Disabled {
  static constexpr CommandSpec spec = {.syntax = "READONLY",
                                       .summary = "Lets this connection read from a replica.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale | kFast,
                                       .categories = kAclConnection};
};

struct ReadWrite : Disabled {
  static constexpr CommandSpec spec = {.syntax = "READWRITE",
                                       .summary = "Lets this connection read from masters only, as by default.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale | kFast,
                                       .categories = kAclConnection};
};

struct ClusterContainer {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER",
                                       .summary = "Contains the subcommands about the cluster.",
                                       .since = "3.0.0",
                                       .group = CommandGroup::kCluster,
                                       .arity = -2};
  static constexpr auto kSubcommands =
      Family<ClusterAddSlots, ClusterAddSlotsRange, ClusterBumpEpoch, ClusterCountFailureReports,
             ClusterCountKeysInSlot, ClusterDelSlots, ClusterDelSlotsRange, ClusterFailover, ClusterFlushSlots,
             ClusterForget, ClusterGetKeysInSlot, ClusterHelp, ClusterInfo, ClusterKeySlot, ClusterLinks, ClusterMeet,
             ClusterMyId, ClusterMyShardId, ClusterNodes, ClusterReplicas, ClusterReplicate, ClusterReset,
             ClusterSaveConfig, ClusterSetConfigEpoch, ClusterSetSlot, ClusterShards, ClusterSlaves, ClusterSlots>();
};

constexpr auto kClusterCommands = Family<Asking, ClusterContainer, ReadOnly, ReadWrite>();

}  // namespace

std::span<const CommandCard> ClusterCommands() { return kClusterCommands; }

}  // namespace respite
