// Services: references to the parts of a server that commands, INFO and the hooks of CONFIG SET use. The parts are only
// declared here; users include their headers.
#pragma once

#include "base/late_bound.h"

namespace respite {

class AclLog;
class AppendOnlyFile;
class Clients;
class ClientLimits;
class ClientMemory;
class Clock;
class ClusterMode;
class CommandLatency;
struct CommandLogs;
class CommandTable;
class Config;
struct Dataset;
struct DebugSwitches;
struct Dialect;
class LazyFree;
class Eviction;
class Executor;
class Expiry;
class FileSystem;
class FunctionLibraries;
class Gates;
class Host;
struct Identity;
class Keyspace;
struct KeyspaceStats;
struct Lab;
class LatencyMonitor;
class Loading;
class Logger;
class MemoryGauge;
class PushMessages;
class Monitors;
class ServerPhase;
class MigrateLinks;
class Migrations;
class ChildProcesses;
class Pace;
class Pause;
class Permissions;
class PubSub;
class TimerFrequency;
class LazyFreeThread;
struct CurrentExecution;
class Replication;
class ScriptCache;
class ScriptRunner;
class SentinelMode;
struct ServerStats;
struct Settings;
class Shutdown;
class SlotMigrations;
class Snapshots;
class Tls;
class Tracking;
class Users;
class BlockedClients;
class WatchedKeys;

struct Services {
  const Settings& settings;
  Config& config;
  const Dialect& dialect;
  const Clock& clock;
  const Pace& pace;
  Logger& log;
  FileSystem& files;
  const LateBound<Host>& host;

  // Data.
  Dataset& data;
  const Keyspace& keyspace;
  KeyspaceStats& keyspace_stats;
  Expiry& expiry;
  Eviction& eviction;
  LazyFree& lazy_free;
  LazyFreeThread& lazy_free_thread;
  const MemoryGauge& memory;

  // Clients.
  Clients& clients;
  ClientLimits& limits;
  ClientMemory& client_memory;
  Users& users;
  AclLog& acl_log;
  Permissions& permissions;
  PubSub& pubsub;
  PushMessages& messages;
  Tracking& tracking;
  BlockedClients& blocked_clients;
  WatchedKeys& watched_keys;
  Pause& pause;
  TimerFrequency& timer_frequency;

  // Execution.
  CommandTable& commands;
  const Gates& gates;
  Executor& executor;
  const CurrentExecution& current_execution;
  const ServerPhase& phase;
  ScriptRunner& scripts;
  ScriptCache& script_cache;
  FunctionLibraries& function_libraries;

  // Storage and links.
  AppendOnlyFile& aof;
  Snapshots& snapshots;
  Loading& loading;
  ChildProcesses& child_processes;
  Shutdown& shutdown;
  MigrateLinks& migrate_links;
  Migrations& migrations;
  Replication& replication;
  ClusterMode& cluster;
  SlotMigrations& slot_migrations;
  SentinelMode& sentinel;
  Tls& tls;

  // Observation.
  Identity& identity;
  ServerStats& stats;
  Monitors& monitors;
  CommandLogs& command_logs;
  CommandLatency& command_latency;
  LatencyMonitor& latency;
  DebugSwitches& debug;

  Lab& lab;
};

}  // namespace respite
