// Declarations of the commands about slots: their owners, and the keys in them.
#pragma once

#include "server/execution/call.h"

namespace respite {

struct ClusterAddSlots {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|ADDSLOTS slot:integer...",
                                       .summary = "Assigns hash slots to this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N slots",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ClusterAddSlotsRange {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|ADDSLOTSRANGE range{start-slot:integer end-slot:integer}...",
                                       .summary = "Assigns ranges of hash slots to this node.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N slots in the ranges",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ClusterCountKeysInSlot {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|COUNTKEYSINSLOT slot:integer",
                                       .summary = "Counts the keys of a hash slot in the database.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale};
  static void Run(Call& call);
};

struct ClusterDelSlots {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|DELSLOTS slot:integer...",
                                       .summary = "Removes hash slots from this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N slots",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ClusterDelSlotsRange {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|DELSLOTSRANGE range{start-slot:integer end-slot:integer}...",
                                       .summary = "Removes ranges of hash slots from this node.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N slots in the ranges",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ClusterFlushSlots {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|FLUSHSLOTS",
                                       .summary = "Removes all hash slots from this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ClusterGetKeysInSlot {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|GETKEYSINSLOT slot:integer count:integer",
                                       .summary = "Lists keys of a hash slot in the database.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N keys requested",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call);
};

struct ClusterKeySlot {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|KEYSLOT key:string",
                                       .summary = "Returns the hash slot of a key.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N bytes of the key",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale};
  static void Run(Call& call);
};

struct ClusterSetSlot {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLUSTER|SETSLOT slot:integer subcommand(IMPORTING importing<node-id>|MIGRATING "
          "migrating<node-id>|NODE node<node-id>|STABLE)",
      .summary = "Sets the owner of a hash slot, or the state of its migration.",
      .since = "3.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kCluster,
      .flags = kAdmin | kStale | kNoAsyncLoading,
      .in_streams = InStreams::kYes};  // Valkey 8 sends it to its replicas
  static void Run(Call& call);
};

struct ClusterSlotStats {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLUSTER|SLOT-STATS filter(SLOTSRANGE slotsrange{start-slot:integer end-slot:integer}|ORDERBY "
          "orderby{metric [LIMIT limit:integer] [order(ASC|DESC)]})",
      .summary = "Reports keys, time and traffic of each slot of this shard.",
      .since = "8.2.0,valkey:8.0.0",
      .complexity = "O(N) for N slots; O(N log N) with ORDERBY",
      .group = CommandGroup::kCluster,
      .flags = kStale | kLoading,
      .tips = "nondeterministic_output request_policy:all_shards",
      .arity = -4};
  static void Run(Call& call);
};

}  // namespace respite
