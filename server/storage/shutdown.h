// Shutdown: SHUTDOWN, SIGTERM and SIGINT. Without NOW, the server first waits up to shutdown-timeout seconds for slow
// replicas. Then the server kills a child process that saves or rewrites, saves the data if required, and stops. If
// saving fails, the server keeps running, unless FORCE was given.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/late_bound.h"
#include "server/clients/session.h"
#include "server/config/settings.h"
#include "server/runtime/env.h"
#include "server/runtime/server_phase.h"

namespace respite {

class AppendOnlyFile;
class Backup;
class Clients;
class Loading;
class ChildProcesses;
class RealClock;
class Pause;
class OffsetFile;
class Snapshots;
class BlockedClients;

// SHUTDOWN FAILOVER: before the server stops, it asks a replica to take over. Unlike the bits for the other options of
// SHUTDOWN, this one is no value of shutdown-on-sigint or shutdown-on-sigterm.
inline constexpr uint32_t kShutdownFailover = 16;  // bit: option FAILOVER

class ReplicasToWaitFor {  // interface to the replicas that should get all writes before the server stops
 public:
  virtual ~ReplicasToWaitFor() = default;
  virtual bool AreCaughtUp() const = 0;         // true: all replicas (except rdb-only) have acknowledged all writes
  virtual void RequestAcknowledgements() = 0;   // asks all replicas to acknowledge what they have applied
  virtual void LogLaggingReplicas() const = 0;  // logs the replicas that did not get all writes in time
};

class Shutdown {  // stops the server: SHUTDOWN, SIGTERM and SIGINT
 public:
  // kStopping: the server ends. kWaiting: the shutdown waits for replicas. kFailed: the server keeps running.
  enum class Outcome : uint8_t { kStopping, kFailed, kWaiting };  // kWaiting: for replicas

  struct Parts {  // the arguments of the constructor
    const Env& env;
    AppendOnlyFile& aof;              // the append-only file, synced at the end
    Backup& backup;                   // the running BACKUP: aborted when the server stops, unless it is complete
    Snapshots& snapshots;             // saves the RDB file at the end
    OffsetFile& offset_file;          // gets the exact replication offset at the end
    Loading& loading;                 // tells whether data is being loaded, so nothing may be saved
    ChildProcesses& child_processes;  // kills the child that saves or rewrites
    Pause& pause;                     // pauses writes while replicas catch up
    BlockedClients& blocked_clients;  // clients that wait, also for SHUTDOWN
    Clients& clients;                 // finds waiting clients by id
  };
  explicit Shutdown(const Parts& parts) : parts_(parts) {}

  Outcome Begin(uint32_t flags);  // stops the server, or begins to wait for replicas; `flags`: kShutdown… bits
  // Shuts down after SIGTERM or SIGINT, with the options in shutdown-on-sigterm or shutdown-on-sigint. Waits while
  // DEBUG has paused the timer, and for the first rewrite after `CONFIG SET appendonly yes`. If data must be saved,
  // also waits until a running script ends, so that the data does not contain half of its effects.
  void HandleSignal(int signal);  // stops the server as shutdown-on-sigterm or -sigint says
  void Continue();                // called by the timer: ends a shutdown that waits, if nothing delays the end any more
  bool Abort();                   // SHUTDOWN ABORT: gives up a shutdown that waits; false: no shutdown waits
  // Sets a function that is called when a shutdown that waited, or a shutdown by a signal, was aborted or has failed.
  void SetCancellationHandler(std::function<void()> handler) {  // called when a shutdown was aborted or failed
    on_cancelled_ = std::move(handler);
  }

  // Sets a function that reports status texts to the operator (systemd). The texts say what a shutdown does, or why it
  // has failed. The function gets an empty text when Begin is called.
  void SetStatusHandler(std::function<void(const std::string&)> handler) {  // called with status texts, for systemd
    on_status_ = std::move(handler);
  }

  void SetReplicasToWaitFor(ReplicasToWaitFor* replicas) {  // the replicas that a shutdown waits for; null: none
    replicas_to_wait_for_ = replicas;
  }
  void SetFailoverHandler(std::function<void()> handler) {  // `handler` asks a replica to take over
    on_failover_ = std::move(handler);
  }
  void AddWaitingClient(const Session& session) {  // `session` gets an error if the shutdown is given up
    waiting_client_ids_.push_back(session.id);
  }
  // Returns how many milliseconds are left for replicas to receive the whole stream, or nullopt if no shutdown waits
  // for replicas.
  std::optional<int64_t> MillisecondsLeftForReplicas() const;  // until the wait for replicas ends; nullopt: no wait

  void NeverSave() { must_never_save_ = true; }  // no later shutdown saves an RDB file

  // Returns true after a successful shutdown, and after the server was ended without one (TEST CRASH).
  bool HasStopped() const { return parts_.env.phase.HasStopped(); }  // true: no command may run any more

 private:
  struct Delayed {        // a shutdown that waits for replicas
    uint32_t flags;       // options of the shutdown: kShutdown… bits
    int64_t deadline_ms;  // when the wait ends at the latest (real time)
  };

  bool MustSave(uint32_t flags) const;             // true: an RDB file must be saved before the end
  bool MustWaitForReplicas(uint32_t flags) const;  // true: a replica lags, and the shutdown may wait for it
  bool StartFirstRewriteIfNeeded(uint32_t flags);  // starts the AOF's first rewrite; true: wait for it
  void DelayForReplicas(uint32_t flags);           // pauses writes, and begins to wait for the replicas
  void FinishShutdownIfReady();                    // stops if all replicas have caught up, or the time is up
  Outcome End(uint32_t flags);             // saves what must be saved, stops the server; kFailed: the server continues
  void AnswerWaitingClients();             // the shutdown is given up: sends an error to clients that wait in SHUTDOWN
  Outcome SaveBeforeExit(uint32_t flags);  // kills a child that saves; syncs the AOF; saves an RDB file if required
  Outcome SyncAppendOnlyFile(uint32_t flags);        // kills a rewrite, syncs the AOF; kFailed: must not stop
  Outcome Refuse(uint32_t flags, const char* what);  // logs an error; returns kFailed, with FORCE kStopping

  void HandleCancellation();  // the shutdown was aborted or has failed: forgets the signal, calls on_cancelled_
  void ReportStatus(const std::string& status) const {  // sends a status text to the handler (systemd)
    if (on_status_) on_status_(status);
  }

  const Parts parts_;                                  // the arguments of the constructor
  bool must_never_save_ = false;                       // true: no shutdown saves an RDB file
  ReplicasToWaitFor* replicas_to_wait_for_ = nullptr;  // the replicas to wait for; null: none
  std::optional<Delayed> delayed_shutdown_;            // the shutdown that waits for replicas; nullopt: none
  std::vector<uint64_t> waiting_client_ids_;           // ids of clients that wait in SHUTDOWN
  int signal_ = 0;                                     // SIGTERM or SIGINT whose shutdown has not ended; 0: none
  // Value of AppendOnlyFile::ConsecutiveFailures() when a shutdown by signal began to wait for the first base. If the
  // present value is different, the rewrite has failed. nullopt: no shutdown waits for the base.
  std::optional<uint64_t> rewrite_failures_before_wait_;  // ConsecutiveFailures() when a wait began; nullopt: no wait
  std::function<void()> on_failover_;                     // asks a replica to take over; may be null
  std::function<void()> on_cancelled_;                    // called when a shutdown is given up; may be null
  std::function<void(const std::string&)> on_status_;     // gets status texts; may be null
};

}  // namespace respite
