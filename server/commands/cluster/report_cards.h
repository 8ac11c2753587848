// Declarations of the commands that report this node's view of its cluster.
#pragma once

#include "server/execution/call.h"

namespace respite {

struct ClusterCountFailureReports {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|COUNT-FAILURE-REPORTS node-id",
                                       .summary = "Counts the active failure reports about a node.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N failure reports",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call);
};

struct ClusterHelp {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|HELP",
                                       .summary = "Lists the subcommands of CLUSTER.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale};
  static void Run(Call& call);
};

struct ClusterInfo {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|INFO",
                                       .summary = "Returns the state of the cluster.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call);
};

struct ClusterLinks {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|LINKS",
                                       .summary = "Lists the links to the other nodes.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N links",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call);
};

struct ClusterMyId {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|MYID",
                                       .summary = "Tells the id of this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale};
  static void Run(Call& call);
};

struct ClusterMyShardId {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|MYSHARDID",
                                       .summary = "Returns the ID of the shard of this node.",
                                       .since = "7.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call);
};

struct ClusterNodes {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|NODES",
                                       .summary = "Describes all nodes, one line for each.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call);
};

struct ClusterReplicas {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|REPLICAS node-id",
                                       .summary = "Lists the replicas of a master.",
                                       .since = "5.0.0",
                                       .complexity = "O(N) for N replicas",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call);
};

struct ClusterShards {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SHARDS",
                                       .summary = "Maps the hash slots to shards and their nodes.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call);
};

struct ClusterSlaves {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SLAVES node-id",
                                       .summary = "The old name of CLUSTER REPLICAS.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N replicas",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale,
                                       .tips = "nondeterministic_output",
                                       .deprecated_since = "5.0.0",
                                       .replaced_by = "`CLUSTER REPLICAS`"};
  static void Run(Call& call);
};

struct ClusterSlots {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SLOTS",
                                       .summary = "Maps the hash slots to nodes.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale,
                                       .tips = "nondeterministic_output",
                                       .deprecated_since = "7.0.0",
                                       .replaced_by = "`CLUSTER SHARDS`"};
  static void Run(Call& call);
};

struct ClusterScan {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLUSTERSCAN cursor [MATCH match-pattern:pattern] [COUNT count:integer] [TYPE type] [SLOT slot:integer]",
      .summary = "Iterates over the keys of all nodes, slot by slot.",
      .since = "valkey:9.1.0",
      .complexity = "O(1) for each call, O(N) for a whole round, N being the number of keys, and O(slots)",
      .group = CommandGroup::kCluster,
      .flags = kReadOnly | kTouchesArbitraryKeys,
      .keys = {Key(1, kKeyNotKey)},
      .categories = kAclKeyspace,
      .tips = "nondeterministic_output request_policy:special response_policy:special"};
  static void Run(Call& call);
};

}  // namespace respite
