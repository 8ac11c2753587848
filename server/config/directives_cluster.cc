// Directives of cluster mode.
#include <array>

#include "server/config/announced_place.h"
#include "server/config/directive_rows.h"
#include "server/config/special_directives.h"

namespace respite::rows {
namespace {

constexpr ChoiceName kClusterEndpointTypeNames[] = {
    Named("ip", ClusterEndpointType::kIp),
    Named("hostname", ClusterEndpointType::kHostname),
    Named("unknown-endpoint", ClusterEndpointType::kUnknown),
};

constexpr size_t kHostnameLimit = 256;

Objection CheckAnnouncedHostname(Bytes name) {
  if (name.size() >= kHostnameLimit) return "Hostnames must be less than 256 characters";
  return HasHostnameCharacters(name) ? Objection{}
                                     : "Hostnames may only contain alphanumeric characters, hyphens or dots";
}

// Checks the value of `cluster-announce-human-nodename`. Also refuses a single quote: when Redis reads nodes.conf, it
// would take the quote for the start of a quoted word.
Objection CheckAnnouncedNodename(Bytes name) {
  if (name.find_first_of("'!#$%&()*+:;<>?@[]^{|}~") == Bytes::npos && MayBeAnnounced(name)) return {};
  return "Announced human node name contained invalid character";
}

Objection CheckAnnouncedIp(Bytes ip) {
  if (MayBeAnnounced(ip) && ip.find('\'') == Bytes::npos) return {};
  return "Announced IP contained invalid character";
}

Objection CheckAnnouncedIpv4(Bytes ip) { return ip.empty() || IsIpv4(ip) ? Objection{} : "Invalid IPv4 address"; }

Objection CheckAnnouncedIpv6(Bytes ip) { return ip.empty() || IsIpv6(ip) ? Objection{} : "Invalid IPv6 address"; }

constexpr ChoiceName kConfigSaveNames[] = {Named("sync", false), Named("best-effort", true)};

constexpr Directive kClusterDirectives[] = {
    Since("7.0.0",
          {"cluster-allow-pubsubshard-when-down", kEffective, YesNo<&Settings::cluster_allow_pubsubshard_when_down>()}),
    {"cluster-allow-reads-when-down", kEffective, YesNo<&Settings::cluster_allow_reads_when_down>()},
    {"cluster-allow-replica-migration", kEffective, YesNo<&Settings::cluster_allow_replica_migration>()},
    {"cluster-announce-bus-port", kEffective, Number<&Settings::cluster_announce_bus_port>(0, 65535)},
    Since("valkey:8.0.0", {"cluster-announce-client-ipv4", kEffective,
                           OptionalText<&Settings::cluster_announce_client_ipv4>(CheckAnnouncedIpv4), kHidden}),
    Since("valkey:8.0.0", {"cluster-announce-client-ipv6", kEffective,
                           OptionalText<&Settings::cluster_announce_client_ipv6>(CheckAnnouncedIpv6), kHidden}),
    Since("7.0.0", {"cluster-announce-hostname", kEffective,
                    OptionalText<&Settings::cluster_announce_hostname>(CheckAnnouncedHostname)}),
    Since("7.2.0", {"cluster-announce-human-nodename", kEffective,
                    OptionalText<&Settings::cluster_announce_human_nodename>(CheckAnnouncedNodename)}),
    {"cluster-announce-ip", kEffective, OptionalText<&Settings::cluster_announce_ip>(CheckAnnouncedIp)},
    Since("valkey:9.1.0", {"cluster-announce-client-port", kMeaningless,
                           Number<&Settings::cluster_announce_client_port>(0, 65535), kHidden}),
    Since("valkey:9.1.0", {"cluster-announce-client-tls-port", kMeaningless,
                           Number<&Settings::cluster_announce_client_tls_port>(0, 65535), kHidden}),
    {"cluster-announce-port", kEffective, Number<&Settings::cluster_announce_port>(0, 65535)},
    {"cluster-announce-tls-port", kEffective, Number<&Settings::cluster_announce_tls_port>(0, 65535)},
    Since("valkey:8.0.0",
          {"cluster-blacklist-ttl", kEffective, Number<&Settings::cluster_blacklist_ttl>(0, kMaxInt), kHidden}),
    Since("7.0.0", {"cluster-config-file", kEffective, Text<&Settings::cluster_config_file>(), kImmutable}),
    Since("8.0.0", {"cluster-compatibility-sample-ratio", kMeaningless,
                    Number<&Settings::cluster_compatibility_sample_ratio>(0, 100), kHidden}),
    Since("valkey:9.1.0", {"cluster-config-save-behavior", kMeaningless,
                           Choice<&Settings::cluster_config_save_is_best_effort>(kConfigSaveNames), kHidden}),
    Since("valkey:9.0.0",
          {"cluster-databases", kEffective, Number<&Settings::cluster_databases>(1, kMaxInt), kImmutable | kHidden}),
    {"cluster-enabled", kEffective, YesNo<&Settings::cluster_enabled>(), kImmutable},
    Since("7.0.0", {"cluster-link-sendbuf-limit", kEffective,
                    Memory<&Settings::cluster_link_sendbuf_limit>(0, kMaxUnsignedLong)}),
    Since("valkey:8.1.0", {"cluster-manual-failover-timeout", kEffective,
                           Number<&Settings::cluster_manual_failover_timeout>(1, kMaxInt), kHidden}),
    Since("valkey:9.1.0", {"cluster-message-gossip-perc", kMeaningless,
                           Number<&Settings::cluster_message_gossip_perc>(1, 100), kUnlisted}),
    {"cluster-migration-barrier", kEffective, Number<&Settings::cluster_migration_barrier>(0, kMaxInt)},
    {"cluster-node-timeout", kEffective, Number<&Settings::cluster_node_timeout>(0, kMaxLong)},
    {"cluster-ping-interval", kEffective, Number<&Settings::cluster_ping_interval>(0, kMaxLong), kHidden},
    Since("7.0.0", {"cluster-port", kEffective, Number<&Settings::cluster_port>(0, 65535), kImmutable}),
    Since("7.0.0", {"cluster-preferred-endpoint-type", kEffective,
                    Choice<&Settings::cluster_preferred_endpoint_type>(kClusterEndpointTypeNames)}),
    {"cluster-replica-no-failover", kEffective, YesNo<&Settings::cluster_replica_no_failover>(), kNoFlags,
     "cluster-slave-no-failover"},
    {"cluster-replica-validity-factor", kEffective, Number<&Settings::cluster_replica_validity_factor>(0, kMaxInt),
     kNoFlags, "cluster-slave-validity-factor"},
    {"cluster-require-full-coverage", kEffective, YesNo<&Settings::cluster_require_full_coverage>()},
    Since("8.4.0", {"cluster-slot-migration-handoff-max-lag-bytes", kMeaningless,
                    Memory<&Settings::cluster_slot_migration_handoff_max_lag_bytes>(0, kMaxInt), kHidden}),
    Since("8.4.0", {"cluster-slot-migration-max-archived-tasks", kMeaningless,
                    Number<&Settings::cluster_slot_migration_max_archived_tasks>(1, kMaxInt), kUnlisted}),
    Since("8.4.0", {"cluster-slot-migration-sync-buffer-drain-timeout", kMeaningless,
                    Number<&Settings::cluster_slot_migration_sync_buffer_drain_timeout>(0, kMaxLong), kUnlisted}),
    Since("8.4.0", {"cluster-slot-migration-write-pause-timeout", kMeaningless,
                    Number<&Settings::cluster_slot_migration_write_pause_timeout>(0, kMaxInt), kHidden}),
    Since("valkey:9.0.0", {"cluster-slot-migration-log-max-len", kEffective,
                           Number<&Settings::cluster_slot_migration_log_max_len>(0, kMaxInt), kHidden}),
    Since("8.2.0,valkey:8.0.0", {"cluster-slot-stats-enabled", kEffective, kSlotStats, kMultiArgument | kHidden}),
    Since("valkey:9.0.0", {"slot-migration-max-failover-repl-bytes", kEffective,
                           Number<&Settings::slot_migration_max_failover_repl_bytes>(-1, kMaxLong), kHidden}),
};

}  // namespace

std::span<const Directive> ClusterDirectives() { return kClusterDirectives; }

}  // namespace respite::rows
