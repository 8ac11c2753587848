#include "server/execution/execution_subsystem.h"

namespace respite {

ExecutionSubsystem::ExecutionSubsystem(const Services& services, const HashKey& hash_key)
    : stats_recorder({.env = services.env}),
      monitors({.env = services.env,
                .current_execution = services.clients.current_execution,
                .clients = services.clients.registry,
                .limits = services.clients.limits,
                .observers = observers}),
      command_logs(
          {.env = services.env, .current_execution = services.clients.current_execution, .observers = observers}),
      command_latency({.env = services.env, .observers = observers}),
      hot_keys({.env = services.env, .observers = observers, .random = services.data.dataset.random}),
      http_guard({.env = services.env, .clients = services.clients.registry}),
      gates({.env = services.env,
             .eviction = services.data.eviction,
             .users = services.clients.users,
             .permissions = services.clients.permissions,
             .durability = durability,
             .role = services.clients.role,
             .router = router}),
      executor({.env = services.env,
                .services = services,
                .current_execution = services.clients.current_execution,
                .http_guard = http_guard,
                .gates = gates,
                .data = services.data.dataset,
                .eviction = services.data.eviction,
                .clients = services.clients.registry,
                .client_memory = services.clients.memory,
                .limits = services.clients.limits,
                .tracking = services.clients.tracking,
                .blocked_clients = services.clients.blocked,
                .watched_keys = services.clients.watched_keys,
                .pause = services.clients.pause,
                .migrating_keys = services.clients.migrating_keys,
                .client_faults = services.clients.faults,
                .faults = faults,
                .reply_editor = reply_editor,
                .durability = durability,
                .role = services.clients.role,
                .stats_recorder = stats_recorder,
                .observers = observers}),
      scripts({.env = services.env,
               .current_execution = services.clients.current_execution,
               .eviction = services.data.eviction,
               .clients = services.clients.registry,
               .limits = services.clients.limits,
               .tracking = services.clients.tracking,
               .executor = executor,
               .gates = gates,
               .router = router,
               .permissions = services.clients.permissions}),
      script_cache(scripts, hash_key),
      function_libraries(scripts, hash_key),
      function_store(function_libraries) {
  services.clients.runner.Attach(&executor);
  services.data.dataset.functions = &function_store;
  services.data.eviction.SetScriptBytes(
      [this] { return script_cache.EngineBytes() + function_libraries.EngineBytes(); });
  executor.ReadClocks();
}

}  // namespace respite
