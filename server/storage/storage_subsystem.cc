#include "server/storage/storage_subsystem.h"

#include "server/execution/execution_subsystem.h"

namespace respite {

StorageSubsystem::StorageSubsystem(const Services& services, FileSystem& files, Forker& forker)
    : child_processes({.env = services.env, .keyspace = services.data.dataset.keyspace}, forker),
      contents({.env = services.env,
                .keyspace = services.data.dataset.keyspace,
                .usage = services.data.dataset.usage,
                .function_libraries = services.execution.function_libraries,
                .memory = services.data.memory,
                .history = services.data.dataset.history}),
      aof({.env = services.env,
           .files = files,
           .data = services.data.dataset,
           .current_execution = services.clients.current_execution,
           .child_processes = child_processes,
           .contents = contents}),
      snapshots({.env = services.env,
                 .files = files,
                 .keyspace_stats = services.data.dataset.stats,
                 .loading = loading,
                 .child_processes = child_processes,
                 .contents = contents}),
      offset_file(
          {.env = services.env, .files = files, .history = services.data.dataset.history, .snapshots = snapshots}),
      loading({.env = services.env, .memory = services.data.memory, .executor = services.execution.executor}),
      backup({.env = services.env,
              .files = files,
              .journals = services.data.dataset.journals,
              .current_execution = services.clients.current_execution,
              .child_processes = child_processes,
              .contents = contents,
              .loading = loading,
              .aof = aof}),
      shutdown({.env = services.env,
                .aof = aof,
                .backup = backup,
                .snapshots = snapshots,
                .offset_file = offset_file,
                .loading = loading,
                .child_processes = child_processes,
                .pause = services.clients.pause,
                .blocked_clients = services.clients.blocked,
                .clients = services.clients.registry}),
      health({.aof = aof, .snapshots = snapshots}) {
  services.execution.durability.Attach(&health);
}

}  // namespace respite
