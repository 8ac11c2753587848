// Declarations of the commands that report this Sentinel's state.
#pragma once

#include "server/execution/call.h"

namespace respite {

struct SentinelCkQuorum {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|CKQUORUM master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Tells whether enough Sentinels can be reached for a failover.",
                                       .since = "2.8.4",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelGetMasterAddrByName {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|GET-MASTER-ADDR-BY-NAME master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the address of a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelHelp {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|HELP",
                                       .where = Where::kSentinels,
                                       .summary = "Lists the subcommands of SENTINEL.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kLoading | kStale};
  static void Run(Call& call);
};

struct SentinelInfoCache {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|INFO-CACHE nodename...",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the last INFO replies of a primary and its replicas.",
                                       .since = "3.2.0",
                                       .complexity = "O(N) for N instances",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelIsMasterDownByAddr {
  static constexpr CommandSpec spec = {
      .syntax = "SENTINEL|IS-MASTER-DOWN-BY-ADDR ip port:integer current-epoch:integer runid",
      .where = Where::kSentinels,
      .summary = "Tells another Sentinel whether a primary is down here, and votes for it.",
      .since = "2.8.4",
      .complexity = "O(1)",
      .group = CommandGroup::kSentinel,
      .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelMaster {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|MASTER master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelMasters {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|MASTERS",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of all primaries that are watched.",
                                       .since = "2.8.4",
                                       .complexity = "O(N) for N primaries",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelMyId {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|MYID",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the id of this Sentinel.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelPendingScripts {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|PENDING-SCRIPTS",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the scripts that run or wait.",
                                       .since = "2.8.4",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelReplicas {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|REPLICAS master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of the replicas of a primary.",
                                       .since = "5.0.0",
                                       .complexity = "O(N) for N replicas",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelSentinels {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|SENTINELS master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of the other Sentinels of a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(N) for N Sentinels",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call);
};

struct SentinelSlaves {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|SLAVES master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of the replicas of a primary.",
                                       .since = "2.8.0",
                                       .complexity = "O(N) for N replicas",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin,
                                       .deprecated_since = "5.0.0",
                                       .replaced_by = "`SENTINEL REPLICAS`"};
  static void Run(Call& call);
};

// Valkey's names of these commands.
struct SentinelGetPrimaryAddrByName {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|GET-PRIMARY-ADDR-BY-NAME primary-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the address of a primary.",
                                       .since = "valkey:8.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) { SentinelGetMasterAddrByName::Run(call); }
};

struct SentinelIsPrimaryDownByAddr {
  static constexpr CommandSpec spec = {
      .syntax = "SENTINEL|IS-PRIMARY-DOWN-BY-ADDR ip port:integer current-epoch:integer runid",
      .where = Where::kSentinels,
      .summary = "Tells another Sentinel whether a primary is down here, and votes for it.",
      .since = "valkey:8.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kSentinel,
      .flags = kAdmin};
  static void Run(Call& call) { SentinelIsMasterDownByAddr::Run(call); }
};

struct SentinelPrimaries {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|PRIMARIES",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of all primaries that are watched.",
                                       .since = "valkey:8.0.0",
                                       .complexity = "O(N) for N primaries",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) { SentinelMasters::Run(call); }
};

struct SentinelPrimary {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|PRIMARY primary-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of a primary.",
                                       .since = "valkey:8.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) { SentinelMaster::Run(call); }
};

}  // namespace respite
