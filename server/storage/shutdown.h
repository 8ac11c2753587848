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

class ReplicasToWaitFor {  // replicas that should have the whole stream before the server ends
 public:
  virtual ~ReplicasToWaitFor() = default;
  virtual bool AreCaughtUp() const = 0;         // all have received the whole stream
  virtual void RequestAcknowledgements() = 0;   // requests acknowledgements from all replicas
  virtual void LogLaggingReplicas() const = 0;  // logs which replicas lag, when the shutdown proceeds without them
};

class Shutdown {  // shuts the server down: SHUTDOWN, SIGTERM and SIGINT
 public:
  // kWaiting: the shutdown waits for replicas. kFailed: the server keeps running.
  enum class Outcome : uint8_t { kStopping, kFailed, kWaiting };

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    AppendOnlyFile& aof;
    Snapshots& snapshots;
    Loading& loading;
    ChildProcesses& child_processes;
    Pause& pause;
    BlockedClients& blocked_clients;
    Clients& clients;
  };
  explicit Shutdown(const Parts& parts) : parts_(parts) {}

  Outcome Begin(uint32_t flags);  // begins a shutdown; `flags` are kShutdown… bits; errors are logged
  // Shuts down after SIGTERM or SIGINT as the directives shutdown-on-… say. Waits while DEBUG has paused the timer, and
  // for the first rewrite after `CONFIG SET appendonly yes`. If data must be saved, also waits until a running script
  // ends, so that no partial effects are saved.
  void HandleSignal(int signal);  // shuts down after SIGTERM or SIGINT as shutdown-on-… says
  void Continue();                // called by the timer: ends a delayed shutdown when it may
  bool Abort();                   // SHUTDOWN ABORT; returns false if no shutdown is delayed
  void OnSignalShutdownCancelled(std::function<void()> handler) { on_cancelled_ = std::move(handler); }

  // Sets a function that is called with an empty text when a shutdown begins, and with status texts as it proceeds.
  void OnStatus(std::function<void(const std::string&)> handler) {  // called with status texts for the operator
    tell_status_ = std::move(handler);
  }

  void SetReplicasToWaitFor(ReplicasToWaitFor* followers) {  // may be null; must outlive the Shutdown
    followers_ = followers;
  }
  void AddWaitingClient(const Session& session) {  // it gets an error if the delayed shutdown fails
    waiting_client_ids_.push_back(session.id);
  }
  // Returns the time that is left for replicas to receive the whole stream, or nullopt if no shutdown waits for them.
  std::optional<int64_t> MillisecondsLeftForReplicas() const;  // nullopt: it does not wait for replicas

  void NeverSave() { must_never_save_ = true; }  // makes every later shutdown skip saving

  // Returns true after a successful shutdown: required data is saved, and no command may run any more.
  bool Done() const { return parts_.env.phase.HasStopped(); }

 private:
  struct Delayed {        // a shutdown that waits for replicas
    uint32_t flags;       // kShutdown… bits
    int64_t deadline_ms;  // Pace time at which the wait for replicas ends
  };

  bool MustSave(uint32_t flags) const;             // an RDB file must be saved before the server stops
  bool MustWaitForReplicas(uint32_t flags) const;  // replicas lag, and nothing forbids to wait for them
  bool StartFirstRewriteIfNeeded(uint32_t flags);  // of the append-only file; true: the shutdown must wait for it
  void DelayForReplicas(uint32_t flags);           // pauses writes, and waits until replicas have the whole stream
  void FinishShutdownIfReady();  // shuts down if the replicas have the whole stream or the time has passed
  Outcome End(uint32_t flags);
  void AnswerWaitingClients();                       // sends an error to the clients that wait for a failed shutdown
  Outcome SaveBeforeExit(uint32_t flags);            // ends children, syncs the append-only file and saves the RDB
  Outcome SyncAppendOnlyFile(uint32_t flags);        // brings every acknowledged command to the disk
  Outcome Refuse(uint32_t flags, const char* what);  // logs an error; returns kStopping if the shutdown is forced

  void HandleCancellation();                          // the server keeps running; calls on_cancelled_
  void TellStatus(const std::string& status) const {  // calls the handler of OnStatus
    if (tell_status_) tell_status_(status);
  }

  const Parts parts_;                         // other parts of the server that this class uses
  bool must_never_save_ = false;              // no shutdown saves the data any more
  ReplicasToWaitFor* followers_ = nullptr;    // replicas to wait for; may be null
  std::optional<Delayed> delayed_shutdown_;   // set while a shutdown waits for replicas
  std::vector<uint64_t> waiting_client_ids_;  // IDs of clients that wait for the shutdown
  int signal_ = 0;                            // the signal that began the delayed shutdown; 0: none
  // The number of failed rewrites when a shutdown by signal began to wait for the first base of the append-only file.
  // Not set without such a wait.
  std::optional<uint64_t> rewrite_failures_before_wait_;  // ConsecutiveFailures() when a wait began; nullopt: no wait
  std::function<void()> on_cancelled_;                    // called when a shutdown by signal is given up
  std::function<void(const std::string&)> tell_status_;   // called with status texts for the operator
};

}  // namespace respite
