#include "server/lab/lab.h"

#include "server/clients/client_subsystem.h"
#include "server/dataset/data_subsystem.h"
#include "server/execution/execution_subsystem.h"

namespace respite {

Lab::Lab(const Services& services, const Parts& parts)
    : clock({.env = services.env,
             .clock = parts.clock,
             .deadlines = services.data.exact_expiry,
             .clients = services.clients.registry,
             .executor = services.execution.executor,
             .keeper = parts.keeper}),
      snapshots({.env = services.env,
                 .data = services.data.dataset,
                 .lazy_free = services.data.lazy_free,
                 .users = services.clients.users,
                 .permissions = services.clients.permissions,
                 .scripts = services.execution.script_cache,
                 .functions = services.execution.function_libraries,
                 .clock = clock}),
      journal({.env = services.env,
               .current_execution = services.clients.current_execution,
               .clients = services.clients.registry,
               .observers = services.execution.observers,
               .key_events = services.clients.key_event_listeners.journal}),
      awaits({.env = services.env,
              .clients = services.clients.registry,
              .blocked_clients = services.clients.blocked,
              .observers = services.execution.observers}),
      faults({.env = services.env,
              .client_faults = services.clients.faults,
              .fault_sources = services.execution.faults,
              .disk = parts.disk,
              .journal = journal,
              .seed = parts.seed}),
      lint({.env = services.env,
            .current_execution = services.clients.current_execution,
            .data = services.data.dataset,
            .clients = services.clients.registry,
            .pubsub = services.clients.pubsub,
            .observers = services.execution.observers,
            .key_events = services.clients.key_event_listeners.lint,
            .fault_sources = services.execution.faults}),
      missing({.env = services.env,
               .current_execution = services.clients.current_execution,
               .observers = services.execution.observers}),
      shuffle(services.execution.reply_editor, parts.seed) {
  services.env.timers.Add(faults);
}

}  // namespace respite
