// Node: a server without sockets. It owns every part and connects them; the behaviour is in the parts. A NodeHost on an
// EventLoop (or a test) drives it.
#pragma once

#include "base/clock.h"
#include "base/late_bound.h"
#include "base/log.h"
#include "base/movable_clock.h"
#include "base/pace.h"
#include "base/random.h"
#include "datatypes/keyspace.h"
#include "persistence/file_system.h"
#include "protocol/reply_buffer.h"
#include "scripting/function_library.h"
#include "scripting/script_cache.h"
#include "server/catalogue/command_table.h"
#include "server/clients/acl/acl_log.h"
#include "server/clients/acl/permissions.h"
#include "server/clients/acl/users.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/change_dispatcher.h"
#include "server/clients/client_cleanup.h"
#include "server/clients/client_faults.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_memory.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/clients/key_event_port.h"
#include "server/clients/key_notifications.h"
#include "server/clients/migrating_keys.h"
#include "server/clients/pause.h"
#include "server/clients/pubsub.h"
#include "server/clients/push_messages.h"
#include "server/clients/removal_rule.h"
#include "server/clients/role.h"
#include "server/clients/server_phase.h"
#include "server/clients/timer_frequency.h"
#include "server/clients/tracking.h"
#include "server/clients/watched_keys.h"
#include "server/cluster/cluster_mode.h"
#include "server/cluster/slots/slot_migrations.h"
#include "server/config/config.h"
#include "server/config/debug_switches.h"
#include "server/dataset/active_expiry.h"
#include "server/dataset/eviction.h"
#include "server/dataset/exact_expiry.h"
#include "server/dataset/expiry.h"
#include "server/dataset/key_usage.h"
#include "server/dataset/lazy_free.h"
#include "server/dataset/lazy_free_thread.h"
#include "server/dataset/memory_gauge.h"
#include "server/dataset/unit.h"
#include "server/execution/call_observer.h"
#include "server/execution/command_latency.h"
#include "server/execution/command_log.h"
#include "server/execution/executor.h"
#include "server/execution/function_library_store.h"
#include "server/execution/gates.h"
#include "server/execution/http_guard.h"
#include "server/execution/monitors.h"
#include "server/execution/pump.h"
#include "server/execution/request_faults.h"
#include "server/execution/script_runner.h"
#include "server/execution/services.h"
#include "server/execution/stats_recorder.h"
#include "server/lab/faults/disk_faults.h"
#include "server/lab/lab.h"
#include "server/migration/migrate_link.h"
#include "server/migration/migrations.h"
#include "server/net/link.h"
#include "server/net/tls/tls.h"
#include "server/node/housekeeping.h"
#include "server/node/node_host.h"
#include "server/observe/identity.h"
#include "server/replication/replication.h"
#include "server/runtime/host.h"
#include "server/runtime/latency.h"
#include "server/runtime/stats.h"
#include "server/sentinel/sentinel_mode.h"
#include "server/storage/append_only_file.h"
#include "server/storage/child_processes.h"
#include "server/storage/children.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_contents.h"
#include "server/storage/shutdown.h"
#include "server/storage/snapshots.h"
#include "server/storage/storage_health.h"

namespace respite {

class Node {
 public:
  // All parts that come from outside. They must outlive the Node.
  struct Parts {
    Config& config;
    const Clock& clock;
    const Pace& pace;
    Logger& log;
    HashKey hash_key;      // of all tables; clients may see it only in the order of tables
    uint64_t random_seed;  // of random choices, which clients see
    FileSystem& files;
    Forker& forker;
    IdSource ids = {};  // of IDs and passwords
  };
  explicit Node(const Parts& outside);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // The driver (NodeHost, or a test) attaches itself here.
  LateBound<Host>& host() { return host_; }
  LateBound<Network>& network() { return network_; }
  // Services for commands, and for code that needs the whole server: the process and tests.
  const Services& services() const { return services_; }
  Pump::Parts pump_parts();
  NodeHost::Parts host_parts();

  const Settings& settings() const { return parts_.config.settings(); }
  Config& config() { return parts_.config; }
  const Clock& clock() const { return parts_.clock; }
  const Pace& pace() const { return parts_.pace; }
  Logger& log() { return parts_.log; }
  FileSystem& files() { return parts_.files; }

  Dataset& data() { return data_; }
  Keyspace& keyspace() { return data_.keyspace; }
  KeyspaceStats& keyspace_stats() { return data_.stats; }
  ServerStats& stats() { return stats_; }
  MemoryGauge& memory() { return memory_; }
  CommandTable& commands() { return commands_; }
  Clients& clients() { return clients_; }
  PubSub& pubsub() { return pubsub_; }
  ClientLimits& limits() { return limits_; }
  ClientMemory& client_memory() { return client_memory_; }
  ClientCleanup& client_cleanup() { return client_cleanup_; }
  Eviction& eviction() { return eviction_; }
  Executor& executor() { return executor_; }
  const CurrentExecution& current_execution() const { return current_execution_; }
  ServerPhase& phase() { return phase_; }
  Expiry& expiry() { return expiry_; }
  Users& users() { return users_; }
  Permissions& permissions() { return permissions_; }
  AclLog& acl_log() { return acl_log_; }
  Pause& pause() { return pause_; }
  CallObservers& call_observers() { return call_observers_; }
  Monitors& monitors() { return monitors_; }
  CommandLogs& command_logs() { return command_logs_; }
  LatencyMonitor& latency() { return latency_; }
  LazyFreeThread& lazy_free_thread() { return lazy_free_thread_; }
  BlockedClients& blocked_clients() { return blocked_clients_; }
  WatchedKeys& watched_keys() { return watched_keys_; }
  Tracking& tracking() { return tracking_; }
  ScriptRunner& scripts() { return scripts_; }
  ScriptCache& script_cache() { return script_cache_; }
  FunctionLibraries& function_libraries() { return function_libraries_; }
  MigrateLinks& migrate_links() { return migrate_links_; }
  Migrations& migrations() { return migrations_; }
  Replication& replication() { return replication_; }
  ClusterMode& cluster() { return cluster_; }
  SlotMigrations& slot_migrations() { return slot_migrations_; }
  SentinelMode& sentinel() { return sentinel_; }
  Tls& tls() { return tls_; }
  DebugSwitches& debug() { return debug_; }
  ChildProcesses& child_processes() { return child_processes_; }
  AppendOnlyFile& aof() { return aof_; }
  Snapshots& snapshots() { return snapshots_; }
  Loading& loading() { return loading_; }
  Shutdown& shutdown() { return shutdown_; }
  Housekeeping& housekeeping() { return housekeeping_; }
  TimerFrequency& timer_frequency() { return timer_frequency_; }
  Lab& lab() { return lab_; }
  const KeyUsage& usage() const { return data_.usage; }

 private:
  // The file system for the append-only file and snapshots.
  FileSystem& StorageFiles() { return movable_clock_ != nullptr ? faulty_disk_ : parts_.files; }

  const std::unique_ptr<MovableClock> movable_clock_;  // null: the clock cannot be moved
  const Parts parts_;                                  // with movable_clock_ as the clock, if there is one
  LateBound<Host> host_;
  LateBound<Network> network_;
  LateBound<const SlotRouter> router_;
  RequestFaultsPort faults_;
  LateBound<ReplyEditor> reply_editor_;
  DiskFaults disk_faults_;
  FaultyDisk faulty_disk_;
  CurrentExecution current_execution_;
  ServerPhase phase_;
  Role role_;
  Dataset data_;
  Identity identity_;
  WatchedKeys watched_keys_;
  MigratingKeys migrating_keys_;
  BlockedClients blocked_clients_;
  Tracking tracking_;
  KeyEventPorts key_event_ports_;
  ChangeDispatcher changes_;
  ServerStats stats_;
  CommandTable commands_;
  Users users_;
  AclLog acl_log_;
  Permissions permissions_;
  BlockPool blocks_;
  PubSub pubsub_;  // declared before the sessions, which unsubscribe when they are destroyed
  KeyNotifications key_notifications_;
  Clients clients_;
  TimerFrequency timer_frequency_;
  ClientLimits limits_;
  ClientMemory client_memory_;
  PushMessages messages_;
  ClientCleanup client_cleanup_;
  Pause pause_;
  ClientFaults client_faults_;
  CallObservers call_observers_;
  StatsRecorder stats_recorder_;
  Monitors monitors_;
  CommandLogs command_logs_;
  LatencyMonitor latency_;
  CommandLatency command_latency_;
  HttpGuard http_guard_;
  LazyFreeThread lazy_free_thread_;
  MemoryGauge memory_;
  LazyFree lazy_free_;
  Tls tls_;
  MigrateLinks migrate_links_;
  DebugSwitches debug_;
  ChildProcesses child_processes_;
  RdbContents rdb_contents_;
  AppendOnlyFile aof_;
  Snapshots snapshots_;
  Loading loading_;
  Shutdown shutdown_;
  RemovalRule expiry_rule_;
  RemovalRule eviction_rule_;
  Expiry expiry_;
  ActiveExpiry active_expiry_;
  ExactExpiry exact_expiry_;
  Timers timers_;
  Eviction eviction_;
  Gates gates_;
  StorageHealth durability_;
  Executor executor_;
  ScriptRunner scripts_;
  ScriptCache script_cache_;
  FunctionLibraries function_libraries_;
  FunctionLibraryStore function_store_;
  Housekeeping housekeeping_;
  Lab lab_;
  Services services_;
  Replication replication_;  // reads services_ in its constructor
  Migrations migrations_;    // reads services_ in its constructor
  ClusterMode cluster_;      // reads services_ in its constructor
  SlotMigrations slot_migrations_;
  SentinelMode sentinel_;
};

}  // namespace respite
