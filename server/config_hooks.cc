#include "server/config_hooks.h"

#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <string>

#include "server/server.h"

namespace respite {

namespace {

// Descriptors that are not clients: files, listeners, the event queue. Redis: CONFIG_MIN_RESERVED_FDS.
constexpr rlim_t kReservedDescriptors = 32;

// Raises the process' limit so that `clients` of them fit. Returns how many do.
uint64_t MakeRoomForClients(uint64_t clients) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return clients;
  const rlim_t wanted = clients + kReservedDescriptors;
  if (limit.rlim_cur >= wanted) return clients;
  // A privileged process may lift the hard limit, up to what the kernel allows; others go as far as it lets them.
  rlimit raised{.rlim_cur = wanted, .rlim_max = std::max(wanted, limit.rlim_max)};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) return clients;
  raised = {.rlim_cur = std::min(wanted, limit.rlim_max), .rlim_max = limit.rlim_max};
  const rlim_t reached = setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
  if (reached >= wanted) return clients;
  return reached - std::min(reached, kReservedDescriptors);
}

std::optional<std::string> ApplyMaxClients(const Settings& settings) {
  const uint64_t possible = MakeRoomForClients(settings.maxclients);
  if (possible >= settings.maxclients) return std::nullopt;
  return "The operating system is not able to handle the specified number of clients, try with " +
         std::to_string(possible);
}

std::optional<std::string> WarnOfLowMaxMemory(Server& server) {
  const uint64_t limit = server.settings().maxmemory;
  const size_t used = server.UsedMemory();
  if (limit != 0 && limit < used) {
    server.log().Warning("WARNING: the new maxmemory value set via CONFIG SET (" + std::to_string(limit) +
                         ") is smaller than the current memory usage (" + std::to_string(used) + ").");
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
  config.OnChange({"maxclients"}, [&server] { return ApplyMaxClients(server.settings()); });
  config.OnChange({"maxmemory"}, [&server] { return WarnOfLowMaxMemory(server); });
  config.OnChange({"loglevel"}, [&server]() -> std::optional<std::string> {
    server.log().SetLevel(server.settings().loglevel);
    return std::nullopt;
  });
}

}  // namespace respite
