#include "server/config_hooks.h"

#include <algorithm>
#include <optional>
#include <string>

#include "server/server.h"
#include "server/startup/limits.h"

namespace respite {

namespace {

std::optional<std::string> RaiseMaxClients(Server& server) {
  const uint32_t wanted = server.settings().maxclients;
  const OpenFilesGrant grant = RaiseOpenFiles(wanted);
  for (const ConfigNote& note : grant.notes) server.log().Log(note.level, note.text);
  if (grant.maxclients >= wanted) return std::nullopt;
  return "The operating system is not able to handle the specified number of clients, try with " +
         std::to_string(grant.maxclients);
}

std::optional<std::string> AdoptMaxMemory(Server& server) {
  const uint64_t limit = server.settings().maxmemory;
  server.client_memory().AdoptLimit();
  server.eviction().StartInNextTurn();
  size_t used = server.UsedMemory();
  used -= std::min(used, server.eviction().UncountedBytes());
  if (limit != 0 && limit < used) {
    server.log().Warning("WARNING: the new maxmemory value set via CONFIG SET (" + std::to_string(limit) +
                         ") is smaller than the current memory usage (" + std::to_string(used) +
                         "): keys are evicted or writes refused, as maxmemory-policy says.");
  }
  return std::nullopt;
}

// One hook for all directives of TLS: what a CONFIG SET changes takes effect together. Keys that nobody asks for are
// forgotten, so that they are read anew once somebody does.
std::optional<std::string> ChangeTls(Server& server) {
  server.migrate_links().DropAll();
  if (!Tls::IsWanted(server.settings())) {
    server.tls().Drop();
  } else if (auto reason = server.tls().Configure(server.settings())) {
    server.log().Warning(*reason);
    return "Unable to update TLS configuration. Check server logs.";
  }
  return std::nullopt;
}

std::optional<std::string> SwitchAppendOnly(Server& server) {
  if (!server.settings().appendonly) {
    server.aof().TurnOff();
  } else if (server.aof().TurnOn() == Step::kFailed) {
    return "Unable to turn on AOF. Check server logs.";
  }
  return std::nullopt;
}

}  // namespace

void RegisterConfigHooks(Server& server) {
  Config& config = server.config();
  config.OnChange({"hz", "dynamic-hz"}, [&server]() -> std::optional<std::string> {
    server.AdjustHz();
    return std::nullopt;
  });
  config.OnChange({"requirepass"}, [&server]() -> std::optional<std::string> {
    server.users().SetDefaultPassword(server.settings().requirepass);
    return std::nullopt;
  });
  config.OnChange({"acllog-max-len"}, [&server]() -> std::optional<std::string> {
    server.acl_log().Trim(static_cast<size_t>(std::max<int64_t>(server.settings().acllog_max_len, 0)));
    return std::nullopt;
  });
  config.OnChange({"slowlog-max-len"}, [&server]() -> std::optional<std::string> {
    server.slowlog().Trim(static_cast<size_t>(std::max<int64_t>(server.settings().slowlog_max_len, 0)));
    return std::nullopt;
  });
  config.OnChange({"loglevel"}, [&server]() -> std::optional<std::string> {
    server.log().SetLevel(server.settings().loglevel);
    return std::nullopt;
  });
  config.OnChange({"maxclients"}, [&server] { return RaiseMaxClients(server); });
  config.OnChange({"appendonly"}, [&server] { return SwitchAppendOnly(server); });
  config.OnChange({"aof-disable-auto-gc"}, [&server]() -> std::optional<std::string> {
    server.aof().directory().RemoveHistory();
    return std::nullopt;
  });
  config.OnChange({"maxmemory-clients"}, [&server]() -> std::optional<std::string> {
    server.client_memory().AdoptLimit();
    return std::nullopt;
  });
  config.OnChange({"maxmemory"}, [&server] { return AdoptMaxMemory(server); });
  config.OnChange(
      {"tls-ca-cert-dir", "tls-ca-cert-file", "tls-cert-file", "tls-ciphers", "tls-ciphersuites",
       "tls-client-cert-file", "tls-client-key-file", "tls-client-key-file-pass", "tls-cluster", "tls-dh-params-file",
       "tls-key-file", "tls-key-file-pass", "tls-prefer-server-ciphers", "tls-protocols", "tls-replication",
       "tls-session-cache-size", "tls-session-cache-timeout", "tls-session-caching"},
      [&server] { return ChangeTls(server); });
}

RewriteExtras RewriteExtrasOf(const Server& server) {
  RewriteExtras extras;
  extras.user_lines.emplace();
  if (server.settings().aclfile.empty()) extras.user_lines = server.users().Lines();
  return extras;
}

}  // namespace respite
