// Directives of replication.
#include <array>

#include "server/config/directive_rows.h"
#include "server/config/special_directives.h"

namespace respite::rows {
namespace {

constexpr ChoiceName kDisklessLoadNames[] = {
    Named("disabled", DisklessLoad::kDisabled),
    Named("on-empty-db", DisklessLoad::kOnEmptyDb),
    Named("swapdb", DisklessLoad::kSwapDb),
    Named("flush-before-load", DisklessLoad::kFlushBeforeLoad, "valkey:8.1.0"),
};

constexpr Directive kReplicationDirectives[] = {
    RenamedIn("valkey:8.0.0",
              {"primaryauth", kEffective, OptionalText<&Settings::masterauth>(), kSensitive, "masterauth"}),
    RenamedIn("valkey:8.0.0",
              {"primaryuser", kEffective, OptionalText<&Settings::masteruser>(), kSensitive, "masteruser"}),
    Since("valkey:8.0.0",
          {"dual-channel-replication-enabled", kMeaningless, YesNo<&Settings::repl_rdb_channel>(), kHidden}),
    {"min-replicas-max-lag", kEffective, Number<&Settings::min_replicas_max_lag>(0, kMaxInt), kNoFlags,
     "min-slaves-max-lag"},
    {"min-replicas-to-write", kEffective, Number<&Settings::min_replicas_to_write>(0, kMaxInt), kNoFlags,
     "min-slaves-to-write"},
    {"repl-backlog-size", kEffective, Memory<&Settings::repl_backlog_size>(1, kMaxLong)},
    {"repl-backlog-ttl", kEffective, Number<&Settings::repl_backlog_ttl>(0, kMaxLong)},
    {"repl-disable-tcp-nodelay", kEffective, YesNo<&Settings::repl_disable_tcp_nodelay>()},
    {"repl-diskless-load", kEffective, Choice<&Settings::repl_diskless_load>(kDisklessLoadNames),
     kDebug | kDenyLoading},
    {"repl-diskless-sync", kEffective, YesNo<&Settings::repl_diskless_sync>(), kDebug},
    {"repl-diskless-sync-delay", kEffective, Number<&Settings::repl_diskless_sync_delay>(0, kMaxInt)},
    Since("7.0.0", {"repl-diskless-sync-max-replicas", kEffective,
                    Number<&Settings::repl_diskless_sync_max_replicas>(0, kMaxInt)}),
    {"repl-ping-replica-period", kEffective, Number<&Settings::repl_ping_replica_period>(1, kMaxInt), kNoFlags,
     "repl-ping-slave-period"},
    Since("8.0.0", {"repl-rdb-channel", kMeaningless, YesNo<&Settings::repl_rdb_channel>(), kUnlisted}),
    {"repl-timeout", kEffective, Number<&Settings::repl_timeout>(1, kMaxInt)},
    {"replica-announce-ip", kEffective, OptionalText<&Settings::replica_announce_ip>(), kNoFlags, "slave-announce-ip"},
    {"replica-announce-port", kEffective, Number<&Settings::replica_announce_port>(0, 65535), kNoFlags,
     "slave-announce-port"},
    {"replica-announced", kEffective, YesNo<&Settings::replica_announced>()},
    Since("8.0.0", {"replica-full-sync-buffer-limit", kMeaningless,
                    Memory<&Settings::replica_full_sync_buffer_limit>(0, kMaxLong), kHidden}),
    {"replica-ignore-command-errors", kEffective, YesNo<&Settings::replica_ignore_command_errors>(), kHidden},
    Since("7.0.0",
          {"replica-ignore-disk-write-errors", kEffective, YesNo<&Settings::replica_ignore_disk_write_errors>()}),
    {"replica-ignore-maxmemory", kEffective, YesNo<&Settings::replica_ignore_maxmemory>(), kNoFlags,
     "slave-ignore-maxmemory"},
    {"replica-lazy-flush", kEffective, YesNo<&Settings::replica_lazy_flush>(), kNoFlags, "slave-lazy-flush"},
    {"replica-priority", kEffective, Number<&Settings::replica_priority>(0, kMaxInt), kNoFlags, "slave-priority"},
    {"replica-read-only", kEffective, YesNo<&Settings::replica_read_only>(), kDebug, "slave-read-only"},
    {"replica-serve-stale-data", kEffective, YesNo<&Settings::replica_serve_stale_data>(), kNoFlags,
     "slave-serve-stale-data"},
    RenamedIn("7.0.0", {"replicaof", kEffective, kReplicaof, kImmutable | kMultiArgument, "slaveof"}),
};

}  // namespace

std::span<const Directive> ReplicationDirectives() { return kReplicationDirectives; }

}  // namespace respite::rows
