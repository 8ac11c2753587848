// Server: owns every part and wires them together. It has no sockets; EventLoop (or a test) drives it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "datatypes/keyspace.h"
#include "persistence/file_system.h"
#include "protocol/reply_buffer.h"
#include "scripting/function_library.h"
#include "scripting/script_cache.h"
#include "server/access.h"
#include "server/acl/acl_log.h"
#include "server/acl/users.h"
#include "server/client_limits.h"
#include "server/client_memory.h"
#include "server/clients.h"
#include "server/command_table.h"
#include "server/config/config.h"
#include "server/debug_switches.h"
#include "server/eviction.h"
#include "server/executor.h"
#include "server/expiry.h"
#include "server/key_notifications.h"
#include "server/latency.h"
#include "server/listeners.h"
#include "server/migrate_link.h"
#include "server/pause.h"
#include "server/pubsub.h"
#include "server/reclaimer.h"
#include "server/script_runner.h"
#include "server/slowlog.h"
#include "server/stats.h"
#include "server/storage/append_only_file.h"
#include "server/storage/children.h"
#include "server/storage/loading.h"
#include "server/storage/nursery.h"
#include "server/storage/shutdown.h"
#include "server/storage/snapshots.h"
#include "server/tls/tls.h"
#include "server/tracking.h"
#include "server/unit.h"
#include "server/waiting.h"
#include "server/watched_keys.h"

namespace respite {

// What the server asks of whatever runs it.
class Host {
 public:
  virtual ~Host() = default;
  // Ends the loop after this Turn; the process exits with this code.
  virtual void Stop(int exit_code) = 0;
  // Runs `task` as soon as the loop is free again, in another Turn.
  virtual void Post(std::function<void()> task) = 0;
  // Serves clients in the middle of the Turn, since a script or loading takes so long. False: the server shall stop.
  virtual bool ServeBesides() = 0;
  // Calls Server::Wake once the monotonic clock has reached this time; an earlier call is replaced.
  virtual void WakeAt(int64_t monotonic_ms) = 0;
};

class Server : private Disposal {
 public:
  // Everything that comes from outside. All must outlive the server.
  struct Parts {
    Config& config;
    const Clock& clock;
    Logger& log;
    HashKey hash_key;      // of all tables; nothing that a client sees may depend on it but the order of tables
    uint64_t random_seed;  // of random choices, which clients see
    FileSystem& files;
    Forker& forker;
  };
  explicit Server(Parts parts);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The timer: expiry, client limits, statistics. To be called `CurrentHz()` times a second.
  void Cron();
  int CurrentHz() const { return hz_; }
  // Takes hz and dynamic-hz over from the settings; the timer follows with its next tick.
  void AdjustHz();
  // Called at the end of each Turn: journal first, then replies.
  void EndTurn();
  // The same for clients that were served in the middle of a Turn: replies only, since they may change nothing.
  void EndTurnBesides() {
    if (Journaled()) Send();
  }

  const Settings& settings() const { return parts_.config.settings(); }
  Config& config() { return parts_.config; }
  const Clock& clock() const { return parts_.clock; }
  Logger& log() { return parts_.log; }
  FileSystem& files() { return parts_.files; }

  Random& random() { return random_; }
  Keyspace& keyspace() { return keyspace_; }
  DataFloor& data() { return data_; }
  KeyspaceStats& keyspace_stats() { return keyspace_stats_; }
  ServerStats& stats() { return stats_; }
  CommandTable& commands() { return commands_; }
  Clients& clients() { return clients_; }
  PubSub& pubsub() { return pubsub_; }
  KeyNotifications& key_notifications() { return key_notifications_; }
  ClientLimits& limits() { return limits_; }
  ClientMemory& client_memory() { return client_memory_; }
  Eviction& eviction() { return eviction_; }
  const Eviction& eviction() const { return eviction_; }
  Executor& executor() { return executor_; }
  const Executor& executor() const { return executor_; }
  Expiry& expiry() { return expiry_; }
  Users& users() { return users_; }
  const Users& users() const { return users_; }
  AclLog& acl_log() { return acl_log_; }
  const Pause& pause() const { return pause_; }
  // Who expires keys for clients and for the timer now.
  ExpiryRule expiry_rule() const { return pause_.IsOn() ? ExpiryRule::kHide : ExpiryRule::kPurge; }
  // Undoes a part of what a session whose client is gone watches and is subscribed to, as much as a Turn should have.
  // True when nothing is left. It must not be blocked.
  bool Dismantle(Session& session);
  // CLIENT PAUSE and UNPAUSE. Sessions that had to wait go on at the end of the Turn.
  void StartPause(Pause::Scope scope, int64_t until_ms);
  void EndPause();
  SlowLog& slowlog() { return slowlog_; }
  LatencyMonitor& latency() { return latency_; }
  Reclaimer& reclaimer() { return reclaimer_; }
  Waiting& waiting() { return waiting_; }
  WatchedKeys& watched_keys() { return watched_keys_; }
  Tracking& tracking() { return tracking_; }
  ScriptRunner& scripts() { return script_runner_; }
  ScriptCache& script_cache() { return script_cache_; }
  FunctionLibraries& function_libraries() { return function_libraries_; }
  MigrateLinks& migrate_links() { return migrate_links_; }
  Tls& tls() { return tls_; }
  DebugSwitches& debug() { return debug_; }
  Nursery& nursery() { return nursery_; }
  AppendOnlyFile& aof() { return aof_; }
  const AppendOnlyFile& aof() const { return aof_; }
  Snapshots& snapshots() { return snapshots_; }
  const Snapshots& snapshots() const { return snapshots_; }
  Loading& loading() { return loading_; }
  const Loading& loading() const { return loading_; }
  Shutdown& shutdown() { return shutdown_; }
  // Others are served in the middle of a Turn: nothing may change but by who is in its midst.
  bool IsMidTurn() const { return script_runner_.Busy() || loading_.Active(); }
  // This is the client of what is in its midst: nothing of it is read meanwhile.
  bool Holds(const Session& session) const { return script_runner_.Holds(session) || loading_.Holds(session); }

  void SetHost(Host* host) { host_ = host; }
  Host* host() { return host_; }

  // Bytes that the program has in use, exactly. Cost: a few ns, no call into the system.
  size_t UsedMemory() const;
  // What is in use now is the price of an empty server (INFO used_memory_startup). For a host, once it has its buffers.
  void MarkStartupMemory();
  // Gives up what is kept for later use only.
  void DropSpareMemory() { blocks_.Clear(); }

  const std::string& run_id() const { return run_id_; }
  // Names the history of the data, for replicas (INFO's master_replid).
  const std::string& replication_id() const { return replication_id_; }
  void ChangeReplicationId() { replication_id_ = RandomHex(40); }
  int64_t started_ms() const { return started_ms_; }  // monotonic
  int64_t started_wall_ms() const { return started_wall_ms_; }
  const Access& access() const { return access_; }

  // Sends a message that answers no request (a publication, an invalidation), behind the reply to the command that the
  // session is running.
  void Push(Session& session, Bytes message);

  // Leaves the transaction and unwatches all keys. Harmless without one.
  void DropTransaction(Session& session);
  // What a Host was asked for by WakeAt.
  void Wake();

  // Frees a value here or on the background thread, as the directive (`lazyfree-lazy-…`) or command says.
  enum class FreeMode { kNow, kLater };
  void FreeEntry(EntryPtr entry, FreeMode mode);
  void FreeDatabase(Database content, FreeMode mode);

 private:
  void Expired(EntryPtr entry) override;
  void Evicted(EntryPtr entry) override { eviction_.Free(std::move(entry)); }
  void Overwritten(BlobRef value) override;
  void Overwritten(std::unique_ptr<Object> value) override;
  void ExpireKeys();
  void GoOnExpiring();
  void ExpireInNextTurn();
  void SampleStats();
  void CheckClients();
  // Writes what happened in this Turn. False: it could not be, so nobody may be told, and the server ends.
  bool Journaled();
  // All replies, and what a Turn gives to messages.
  void Send();
  void GoOnInNextTurn();
  void ResumePostponed();
  void ResumeContinued();
  void ForgetSession(Session& session);

  Parts parts_;
  Random random_;
  Keyspace keyspace_;
  KeyspaceStats keyspace_stats_;
  Access access_;
  WatchedKeys watched_keys_;
  Waiting waiting_;
  Tracking tracking_;
  Listeners listeners_;
  DataFloor data_;
  ServerStats stats_;
  CommandTable commands_;
  Users users_;
  AclLog acl_log_;
  BlockPool blocks_;
  PubSub pubsub_;  // before the sessions, which leave their channels when they go
  KeyNotifications key_notifications_;
  Clients clients_;
  ClientLimits limits_;
  ClientMemory client_memory_;
  Pause pause_;
  SlowLog slowlog_;
  LatencyMonitor latency_;
  Reclaimer reclaimer_;
  Tls tls_;
  MigrateLinks migrate_links_;
  DebugSwitches debug_;
  Nursery nursery_;
  AppendOnlyFile aof_;
  Snapshots snapshots_;
  Loading loading_;
  Shutdown shutdown_;
  Expiry expiry_;
  Eviction eviction_;
  Executor executor_;
  ScriptRunner script_runner_;
  ScriptCache script_cache_;
  FunctionLibraries function_libraries_;
  Host* host_ = nullptr;
  std::string run_id_;
  std::string replication_id_;
  int64_t started_ms_;
  int64_t started_wall_ms_;
  int hz_;
  int64_t wake_at_ms_ = Waiter::kNoDeadline;  // what the Host was asked for
  uint64_t synced_seen_ = 0;                  // AofWriter::Synced, by those who wait for it
  bool slice_posted_ = false;                 // the next slice of expiry waits for its Turn
  int64_t last_sample_us_ = 0;
};

}  // namespace respite
