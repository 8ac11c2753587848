// Declarations of the commands that change this node's role or state in its cluster, and of those with which clients
// follow redirections.
#pragma once

#include "server/execution/call.h"

namespace respite {

struct Asking {
  static constexpr CommandSpec spec = {.syntax = "ASKING",
                                       .summary = "Announces that the next request follows an ASK redirection.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kFast,
                                       .categories = kAclConnection};
  static void Run(Call& call);
};

struct ClusterBumpEpoch {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|BUMPEPOCH",
                                       .summary = "Raises the configuration epoch of this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call);
};

struct ClusterFailover {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|FAILOVER [options(FORCE|TAKEOVER)]",
                                       .summary = "Makes this replica take over from its master.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ClusterForget {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|FORGET node-id",
                                       .summary = "Removes a node from the table of known nodes.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ClusterMeet {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|MEET ip port:integer [cluster-bus-port:integer@4.0.0]",
                                       .summary = "Connects this node to another one.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ClusterReplicate {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|REPLICATE node-id",
                                       .summary = "Makes this node a replica of another.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ClusterReset {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|RESET [reset-type(HARD|SOFT)]",
                                       .summary = "Removes this node from its cluster.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N known nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kNoScript | kStale};
  static void Run(Call& call);
};

struct ClusterSaveConfig {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SAVECONFIG",
                                       .summary = "Writes the configuration of the cluster to disk.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ClusterSetConfigEpoch {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SET-CONFIG-EPOCH config-epoch:integer",
                                       .summary = "Sets the configuration epoch of a new node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ReadOnly {
  static constexpr CommandSpec spec = {.syntax = "READONLY",
                                       .summary = "Lets this connection read from a replica.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale | kFast,
                                       .categories = kAclConnection};
  static void Run(Call& call);
};

struct ReadWrite {
  static constexpr CommandSpec spec = {.syntax = "READWRITE",
                                       .summary = "Lets this connection read from masters only, as by default.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale | kFast,
                                       .categories = kAclConnection};
  static void Run(Call& call);
};

}  // namespace respite
