// Declarations of the commands that change which primaries this Sentinel monitors, and how.
#pragma once

#include "server/execution/call.h"

namespace respite {

struct SentinelConfig {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|CONFIG action(SET set{parameter value}...|GET parameter...)",
                                       .where = Where::kSentinels,
                                       .summary = "Reads or changes settings of this Sentinel.",
                                       .since = "6.2.0",
                                       .complexity = "O(N) for N settings",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin,
                                       .history = "7.2.0: Accepts several settings.",
                                       .arity = -4};
  static void Run(Call& call);
};

struct SentinelDebug {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|DEBUG [data{parameter value}...]",
                                       .where = Where::kSentinels,
                                       .summary = "Reads or changes the periods by which this Sentinel works.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N periods",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelFailover {
  static constexpr CommandSpec spec = {
      .syntax = "SENTINEL|FAILOVER master-name",
      .where = Where::kSentinels,
      .summary = "Replaces a primary by one of its replicas, without asking other Sentinels.",
      .since = "2.8.4",
      .group = CommandGroup::kSentinel,
      .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelFlushConfig {
  static constexpr CommandSpec spec = {
      .syntax = "SENTINEL|FLUSHCONFIG",
      .where = Where::kSentinels,
      .summary = "Writes the configuration file, with everything that this Sentinel knows.",
      .since = "2.8.4",
      .complexity = "O(1)",
      .group = CommandGroup::kSentinel,
      .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelMonitor {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|MONITOR name ip port:integer quorum:integer",
                                       .where = Where::kSentinels,
                                       .summary = "Begins to watch a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelRemove {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|REMOVE master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Stops watching a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelReset {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|RESET pattern:pattern",
                                       .where = Where::kSentinels,
                                       .summary = "Discards the known replicas and Sentinels of some primaries.",
                                       .since = "2.8.4",
                                       .complexity = "O(N) for N primaries",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelSet {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|SET master-name data{option value}...",
                                       .where = Where::kSentinels,
                                       .summary = "Changes settings of a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin,
                                       .arity = -5};
  static void Run(Call& call);
};

struct SentinelSimulateFailure {
  static constexpr CommandSpec spec = {
      .syntax =
          "SENTINEL|SIMULATE-FAILURE "
          "[mode(crash-after-election:pure-token|crash-after-promotion:pure-token|help:pure-token)...]",
      .where = Where::kSentinels,
      .summary = "Makes this Sentinel crash in the middle of a failover, for tests.",
      .since = "3.2.0",
      .group = CommandGroup::kSentinel,
      .flags = kAdmin,
      .arity = -3};
  static void Run(Call& call);
};

}  // namespace respite
