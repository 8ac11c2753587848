#include "server/clients/client_subsystem.h"

namespace respite {

ClientSubsystem::ClientSubsystem(const Env& env, DataSubsystem& data, const HashKey& hash_key)
    : watched_keys(data.dataset.keyspace, hash_key),
      migrating_keys(hash_key),
      blocked({.env = env,
               .keyspace = data.dataset.keyspace,
               .clients = registry,
               .runner = runner,
               .current_execution = current_execution},
              hash_key),
      tracking({.env = env, .clients = registry, .messages = messages, .current_execution = current_execution},
               hash_key, data.dataset.random.Next()),
      change_dispatcher({.env = env,
                         .tracking = tracking,
                         .blocked_clients = blocked,
                         .watched_keys = watched_keys,
                         .migrating_keys = migrating_keys,
                         .key_notifications = key_notifications,
                         .key_event_listeners = key_event_listeners,
                         .current_execution = current_execution}),
      users(env.commands, env.settings),
      permissions({.env = env, .users = users, .acl_log = acl_log, .clients = registry}),
      pubsub({.clients = registry, .limits = limits, .client_memory = memory, .current_execution = current_execution},
             hash_key),
      key_notifications(pubsub, env.settings),
      registry(data.reply_blocks, users.Default()),
      timer_frequency(env.settings, registry),
      limits({.env = env, .clients = registry, .users = users}),
      memory({.env = env, .clients = registry}),
      messages({.current_execution = current_execution, .clients = registry, .limits = limits}),
      cleanup(
          {.blocked_clients = blocked, .tracking = tracking, .watched_keys = watched_keys, .client_memory = memory}),
      faults({.env = env, .clients = registry}),
      expiry_rule({.env = env, .pause = pause, .role = role, .cause = KeyRemovalRule::Cause::kExpiry}),
      eviction_rule({.env = env, .pause = pause, .role = role, .cause = KeyRemovalRule::Cause::kEviction}) {
  data.expiry_rule.Attach(&expiry_rule);
  data.eviction_rule.Attach(&eviction_rule);
  data.dataset.listener = &change_dispatcher;
  env.timers.Add(pause);
  env.timers.Add(blocked);
  env.timers.Add(faults);
  memory.ApplyConfiguredLimit();
}

}  // namespace respite
