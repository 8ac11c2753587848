// Declarations of the commands that migrate whole slots.
#pragma once

#include "server/execution/call.h"

namespace respite {

struct ClusterCancelSlotMigrations {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|CANCELSLOTMIGRATIONS",
                                       .summary = "Ends the migrations of slots from this node.",
                                       .since = "valkey:9.0.0",
                                       .complexity = "O(N) for N migrations",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call);
};

struct ClusterGetSlotMigrations {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|GETSLOTMIGRATIONS",
                                       .summary = "Lists running and former migrations of slots from and to this node.",
                                       .since = "valkey:9.0.0",
                                       .complexity = "O(N) for N migrations",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kLoading,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call);
};

struct ClusterMigrateSlots {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLUSTER|MIGRATESLOTS migration-group{slotsrange-token=SLOTSRANGE range{start-slot:integer "
          "end-slot:integer}... node-token=NODE node-id}...",
      .summary = "Moves slots with their keys from this node to others.",
      .since = "valkey:9.0.0",
      .complexity = "O(N) for N slots",
      .group = CommandGroup::kCluster,
      .flags = kAdmin | kStale | kNoAsyncLoading,
      .arity = -4};
  static void Run(Call& call);
};

struct ClusterSyncSlots {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SYNCSLOTS subcommand arguments...",
                                       .summary = "Sends slots: an internal command between nodes.",
                                       .since = "valkey:9.0.0",
                                       .complexity = "Depends on the subcommand.",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kMayReplicate | kNoMulti | kNoScript,
                                       .arity = -3};
  static void Run(Call& call);
};

}  // namespace respite
