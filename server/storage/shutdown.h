// Shutdown: SHUTDOWN, SIGTERM and SIGINT. First the server waits up to shutdown-timeout seconds for slow replicas. Then
// it ends children, saves the data if required, and stops the host. If saving fails the server keeps running, unless
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

class ReplicasToWaitFor {  // an interface to the replicas that should get all writes before the server ends
 public:
  virtual ~ReplicasToWaitFor() = default;
  virtual bool AreCaughtUp() const = 0;         // all replicas have the whole stream
  virtual void RequestAcknowledgements() = 0;   // requests acknowledgements from all replicas
  virtual void LogLaggingReplicas() const = 0;  // logs which replicas lag, when the shutdown proceeds without them
};

class Shutdown {  // shuts the server down: SHUTDOWN, SIGTERM and SIGINT
 public:
  // kWaiting: the shutdown waits for replicas. kFailed: the server keeps running.
  enum class Outcome : uint8_t { kStopping, kFailed, kWaiting };

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    AppendOnlyFile& aof;              // is synced before the end
    Snapshots& snapshots;             // saves the RDB file before the end
    Loading& loading;                 // while it runs, nothing is saved
    ChildProcesses& child_processes;  // children are killed before the end
    Pause& pause;                     // pauses writes while replicas catch up
    BlockedClients& blocked_clients;  // the waiting clients are among them
    Clients& clients;                 // to find the waiting clients by ID
  };
  explicit Shutdown(const Parts& parts) : parts_(parts) {}

  Outcome Begin(uint32_t flags);  // shuts down, or waits for replicas; `flags`: kShutdown… bits
  // Shuts down after SIGTERM or SIGINT as the directives shutdown-on-… say. Waits while DEBUG has paused the timer, and
  // for the first rewrite after `CONFIG SET appendonly yes`. If data must be saved, also waits until a running script
  // ends, so that no partial effects are saved.
  void HandleSignal(int signal);  // shuts down after SIGTERM or SIGINT as shutdown-on-… says
  void Continue();                // called by the timer: proceeds with a shutdown that waits, when it may
  bool Abort();                   // SHUTDOWN ABORT; false: no shutdown waits
  void OnSignalShutdownCancelled(std::function<void()> handler) { on_cancelled_ = std::move(handler); }

  // Sets a function that is called with an empty text when a shutdown begins, and with status texts as it proceeds.
  void OnStatus(std::function<void(const std::string&)> handler) {  // called with status texts for the operator
    tell_status_ = std::move(handler);
  }

  void SetReplicasToWaitFor(ReplicasToWaitFor* followers) {  // may be null; must outlive the Shutdown
    followers_ = followers;
  }
  void AddWaitingClient(const Session& session) {  // it gets an error if the shutdown that waits fails
    waiting_client_ids_.push_back(session.id);
  }
  // Returns the time that is left for replicas to receive the whole stream, or nullopt if no shutdown waits for them.
  std::optional<int64_t> MillisecondsLeftForReplicas() const;  // nullopt: it does not wait for replicas

  void NeverSave() { must_never_save_ = true; }  // later shutdowns do not save an RDB file

  // Returns true after a successful shutdown: required data is saved, and no command may run any more.
  bool Done() const { return parts_.env.phase.HasStopped(); }  // the server has stopped; no command may run

 private:
  struct Delayed {        // a shutdown that waits for replicas
    uint32_t flags;       // kShutdown… bits
    int64_t deadline_ms;  // real elapsed time at which the wait ends
  };

  bool MustSave(uint32_t flags) const;               // an RDB file must be saved before the server stops
  bool MustWaitForReplicas(uint32_t flags) const;    // replicas lag, and nothing forbids to wait for them
  bool StartFirstRewriteIfNeeded(uint32_t flags);    // of the append-only file; true: wait for it
  void DelayForReplicas(uint32_t flags);             // pauses writes, and waits until replicas have the whole stream
  void FinishShutdownIfReady();                      // ends the wait for replicas if they have all or the time is over
  Outcome End(uint32_t flags);                       // saves what must be saved, and stops the server
  void AnswerWaitingClients();                       // the shutdown failed or was aborted: sends them an error
  Outcome SaveBeforeExit(uint32_t flags);            // ends children, syncs the append-only file, saves any RDB
  Outcome SyncAppendOnlyFile(uint32_t flags);        // writes and syncs the append-only file; kFailed: refuses
  Outcome Refuse(uint32_t flags, const char* what);  // logs an error; returns kStopping if the shutdown is forced

  void HandleCancellation();  // the shutdown is given up: forgets the signal, calls on_cancelled_
  void TellStatus(const std::string& status) const {  // calls the handler of OnStatus
    if (tell_status_) tell_status_(status);
  }

  const Parts parts_;                         // other parts of the server that this class uses
  bool must_never_save_ = false;              // shutdowns do not save an RDB file (NeverSave)
  ReplicasToWaitFor* followers_ = nullptr;    // replicas to wait for; may be null
  std::optional<Delayed> delayed_shutdown_;   // set while a shutdown waits for replicas
  std::vector<uint64_t> waiting_client_ids_;  // IDs of clients that wait for the shutdown
  int signal_ = 0;                            // the signal whose shutdown has not ended yet; 0: none
  // AppendOnlyFile::ConsecutiveFailures() when a shutdown by signal began to wait for the first base. If the number has
  // changed since, the rewrite has failed. Not set without such a wait.
  std::optional<uint64_t> rewrite_failures_before_wait_;  // ConsecutiveFailures() when a wait began; nullopt: no wait
  std::function<void()> on_cancelled_;  // called when a shutdown that waited, or by a signal, is given up
  std::function<void(const std::string&)> tell_status_;  // called with status texts for the operator
};

}  // namespace respite
