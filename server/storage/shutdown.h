// Shutdown: SHUTDOWN, SIGTERM and SIGINT. First the server waits up to shutdown-timeout seconds for slow replicas. Then
// it kills child processes, saves the data if required, and stops. If saving fails, the server keeps running, unless
// FORCE was given.
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
class Clients;
class Loading;
class ChildProcesses;
class Pace;
class Pause;
class Snapshots;
class BlockedClients;

class ReplicasToWaitFor {  // an interface to the replicas that should get all writes before the server stops
 public:
  virtual ~ReplicasToWaitFor() = default;
  virtual bool AreCaughtUp() const = 0;         // all replicas have acknowledged the whole stream
  virtual void RequestAcknowledgements() = 0;   // requests acknowledgements from all replicas
  virtual void LogLaggingReplicas() const = 0;  // logs which replicas lag when the server stops without them
};

class Shutdown {  // shuts the server down: SHUTDOWN, SIGTERM and SIGINT
 public:
  // kWaiting: the shutdown waits for replicas. kFailed: the server keeps running.
  enum class Outcome : uint8_t { kStopping, kFailed, kWaiting };

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    AppendOnlyFile& aof;              // is synced before the end
    Snapshots& snapshots;             // saves the RDB file before the end
    Loading& loading;                 // while data is being loaded, nothing is saved
    ChildProcesses& child_processes;  // children are killed before the end
    Pause& pause;                     // pauses writes while replicas catch up
    BlockedClients& blocked_clients;  // clients that wait for the shutdown are blocked
    Clients& clients;                 // to find the waiting clients by ID
  };
  explicit Shutdown(const Parts& parts) : parts_(parts) {}

  Outcome Begin(uint32_t flags);  // shuts down, or waits for replicas; `flags`: kShutdown… bits
  // Shuts down after SIGTERM or SIGINT, with the options in shutdown-on-sigterm or shutdown-on-sigint. Waits while
  // DEBUG has paused the timer, and for the first rewrite after `CONFIG SET appendonly yes`. If data must be saved,
  // also waits until a running script ends, so that the data does not contain half of its effects.
  void HandleSignal(int signal);  // shuts down after SIGTERM or SIGINT as shutdown-on-… says
  void Continue();                // called by the timer: continues a shutdown that waits, if it may
  bool Abort();                   // SHUTDOWN ABORT; false: no shutdown waits
  // Sets a function that is called when a shutdown that waited, or a shutdown by signal, is given up.
  void SetCancellationHandler(std::function<void()> handler) { on_cancelled_ = std::move(handler); }

  // Sets a function that reports status texts to the operator (systemd). It is called with an empty text when a
  // shutdown begins, and with texts as it proceeds.
  void SetStatusHandler(std::function<void(const std::string&)> handler) {  // sets the receiver of status texts
    on_status_ = std::move(handler);
  }

  void SetReplicasToWaitFor(ReplicasToWaitFor* replicas) {  // null: none; must outlive the Shutdown
    replicas_to_wait_for_ = replicas;
  }
  void AddWaitingClient(const Session& session) {  // a client that waits: if the shutdown fails, it gets an error
    waiting_client_ids_.push_back(session.id);
  }
  // Returns how many milliseconds are left for replicas to receive the whole stream, or nullopt if no shutdown waits
  // for replicas.
  std::optional<int64_t> MillisecondsLeftForReplicas() const;  // nullopt: no shutdown waits for replicas

  void NeverSave() { must_never_save_ = true; }  // later shutdowns do not save an RDB file

  // Returns whether a shutdown has succeeded: required data is saved, and no command may run any more.
  bool HasStopped() const { return parts_.env.phase.HasStopped(); }  // the server has stopped; no command may run

 private:
  struct Delayed {        // a shutdown that waits for replicas
    uint32_t flags;       // kShutdown… bits
    int64_t deadline_ms;  // real elapsed time at which the wait ends
  };

  bool MustSave(uint32_t flags) const;             // an RDB file must be saved before the server stops
  bool MustWaitForReplicas(uint32_t flags) const;  // replicas lag, and the shutdown is not urgent
  bool StartFirstRewriteIfNeeded(uint32_t flags);  // for the first base of the append-only file; true: wait for it
  void DelayForReplicas(uint32_t flags);           // pauses writes, and waits until replicas have the whole stream
  void FinishShutdownIfReady();                    // stops if the replicas have the whole stream or the time is up
  Outcome End(uint32_t flags);                     // saves what must be saved, and stops the server
  void AnswerWaitingClients();  // the shutdown failed or was aborted: sends an error to clients that wait for it
  Outcome SaveBeforeExit(uint32_t flags);  // kills children, syncs the append-only file, saves an RDB file if required
  Outcome SyncAppendOnlyFile(uint32_t flags);        // syncs the append-only file; kFailed: the server must not stop
  Outcome Refuse(uint32_t flags, const char* what);  // logs an error; returns kFailed, or kStopping with FORCE

  void HandleCancellation();  // the shutdown was given up: forgets the signal, calls on_cancelled_
  void ReportStatus(const std::string& status) const {  // calls the handler of SetStatusHandler
    if (on_status_) on_status_(status);
  }

  const Parts parts_;                                  // other parts of the server that this class uses
  bool must_never_save_ = false;                       // NeverSave was called: no shutdown saves an RDB file
  ReplicasToWaitFor* replicas_to_wait_for_ = nullptr;  // the replicas to wait for; null: none
  std::optional<Delayed> delayed_shutdown_;            // set while a shutdown waits for replicas
  std::vector<uint64_t> waiting_client_ids_;           // IDs of clients that wait for the shutdown
  int signal_ = 0;                                     // SIGTERM or SIGINT while its shutdown has not ended; 0: none
  // Value of AppendOnlyFile::ConsecutiveFailures() when a shutdown by signal began to wait for the first base. A
  // different value now means that the rewrite has failed. nullopt: no such wait.
  std::optional<uint64_t> rewrite_failures_before_wait_;  // ConsecutiveFailures() when a wait began; nullopt: no wait
  std::function<void()> on_cancelled_;  // called when a shutdown that waited, or by a signal, is given up
  std::function<void(const std::string&)> on_status_;  // called with status texts for the operator
};

}  // namespace respite
