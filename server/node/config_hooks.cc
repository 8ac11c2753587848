#include "server/node/config_hooks.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/str_cat.h"
#include "server/clients/acl/acl_log.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_memory.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/cluster/cluster_mode.h"
#include "server/config/config.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/eviction.h"
#include "server/dataset/memory_gauge.h"
#include "server/execution/command_log.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/migration/migrate_link.h"
#include "server/migration/migrations.h"
#include "server/net/tls/tls.h"
#include "server/replication/replication.h"
#include "server/storage/append_only_file.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

std::optional<std::string> AdoptMaxMemory(const Services& services) {
  const uint64_t limit = services.env.settings.maxmemory;
  services.clients.memory.ApplyConfiguredLimit();
  services.data.eviction.StartInNextTurn();
  size_t used = services.data.memory.UsedBytes();
  used -= std::min(used, services.data.eviction.UncountedBytes());
  if (limit != 0 && limit < used) {
    services.env.log.Warning(StrCat("WARNING: the new maxmemory value set via CONFIG SET (", limit,
                                    ") is smaller than the current memory usage (", used,
                                    "): keys are evicted or writes refused, as maxmemory-policy says."));
  }
  return std::nullopt;
}

// Handles the TLS directives (except tls-port and tls-auth-clients) in one hook, since all changes of one CONFIG SET
// take effect together. Drops the TLS keys if TLS is now off; otherwise reads keys and certificates again.
std::optional<std::string> ChangeTls(const Settings& settings, Tls& tls, Logger& log) {
  if (!Tls::IsWanted(settings)) {
    tls.Drop();
  } else if (auto reason = tls.Configure(settings)) {
    log.Warning(*reason);
    return "Unable to update TLS configuration. Check server logs.";
  }
  return std::nullopt;
}

std::optional<std::string> CountGoodReplicas(Replication& replication) {
  replication.replicas().RecountGoodReplicas();
  return std::nullopt;
}

std::optional<std::string> ReadClusterSettings(ClusterMode& cluster) {
  cluster.ApplySettings();
  return std::nullopt;
}

std::optional<std::string> SwitchAppendOnly(const Settings& settings, AppendOnlyFile& aof) {
  if (!settings.appendonly) {
    aof.TurnOff();
  } else if (aof.TurnOn() == Step::kFailed) {
    return "Unable to turn on AOF. Check server logs.";
  }
  return std::nullopt;
}

// Registers the hooks of CONFIG SET for the command logs, latency monitoring and the log.
void RegisterObservationHooks(const Services& services) {
  Config& config = services.env.config;
  config.AddHook({"commandlog-execution-slower-than", "commandlog-request-larger-than", "commandlog-reply-larger-than"},
                 [&services]() -> std::optional<std::string> {
                   services.execution.command_logs.ApplyConfiguredLimits();
                   return std::nullopt;
                 });
  config.AddHook({"latency-monitor-threshold"}, [&services]() -> std::optional<std::string> {
    services.execution.command_latency.ApplyConfiguredThreshold();
    return std::nullopt;
  });
  config.AddHook({"loglevel"}, [&services]() -> std::optional<std::string> {
    services.env.log.SetLevel(services.env.settings.loglevel);
    return std::nullopt;
  });
  config.AddHook({"log-format", "log-timestamp-format"}, [&services]() -> std::optional<std::string> {
    services.env.log.SetFormat(services.env.settings.log_format, services.env.settings.log_timestamp_format);
    return std::nullopt;
  });
}

}  // namespace

void RegisterConfigHooks(const Services& services) {
  RegisterObservationHooks(services);
  Config& config = services.env.config;
  config.AddHook({"hz", "dynamic-hz"}, [&services]() -> std::optional<std::string> {
    services.clients.timer_frequency.UpdateFrequency();
    return std::nullopt;
  });
  config.AddHook({"min-replicas-to-write", "min-replicas-max-lag"},
                 [&services] { return CountGoodReplicas(services.replication); });
  config.AddHook({"requirepass"}, [&services]() -> std::optional<std::string> {
    services.clients.users.SetDefaultPassword(services.env.settings.requirepass);
    return std::nullopt;
  });
  config.AddHook({"appendonly"}, [&services] { return SwitchAppendOnly(services.env.settings, services.storage.aof); });
  config.AddHook({"aof-disable-auto-gc"}, [&services]() -> std::optional<std::string> {
    services.storage.aof.directory().RemoveHistory();
    return std::nullopt;
  });
  config.AddHook({"maxmemory-clients"}, [&services]() -> std::optional<std::string> {
    services.clients.memory.ApplyConfiguredLimit();
    return std::nullopt;
  });
  config.AddHook(
      {"availability-zone", "cluster-allow-replica-migration", "cluster-announce-bus-port",
       "cluster-announce-client-ipv4", "cluster-announce-client-ipv6", "cluster-announce-hostname",
       "cluster-announce-human-nodename", "cluster-announce-ip", "cluster-announce-port", "cluster-announce-tls-port",
       "cluster-replica-no-failover", "cluster-require-full-coverage", "cluster-slot-stats-enabled"},
      [&services] { return ReadClusterSettings(services.cluster); });
  config.AddHook({"maxmemory"}, [&services] { return AdoptMaxMemory(services); });
  config.AddHook(
      {"tls-ca-cert-dir", "tls-ca-cert-file", "tls-cert-file", "tls-ciphers", "tls-ciphersuites",
       "tls-client-cert-file", "tls-client-key-file", "tls-client-key-file-pass", "tls-cluster", "tls-dh-params-file",
       "tls-key-file", "tls-key-file-pass", "tls-prefer-server-ciphers", "tls-protocols", "tls-replication",
       "tls-session-cache-size", "tls-session-cache-timeout", "tls-session-caching"},
      [&services] {
        services.migrations.blocking_links().DropAll();
        services.migrations.CloseUnusedLinks();
        return ChangeTls(services.env.settings, services.tls, services.env.log);
      });
}

}  // namespace respite
