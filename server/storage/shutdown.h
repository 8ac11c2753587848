// Shutdown: SHUTDOWN, SIGTERM and SIGINT. Ends children, saves the data if required, and then stops the host. If saving
// fails the server keeps running, unless it was forced to end. First it waits up to shutdown-timeout seconds for slow
// replicas.
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
  virtual bool AreCaughtUp() const = 0;         // all have the whole stream
  virtual void RequestAcknowledgements() = 0;   // requests acknowledgements from all replicas
  virtual void LogLaggingReplicas() const = 0;  // logs which replicas lag, at the end
};

class Shutdown {  // SHUTDOWN, SIGTERM and SIGINT
 public:
  // kWaiting: waits for replicas.
  enum class Outcome : uint8_t { kStopping, kFailed, kWaiting };

  struct Parts {  // the objects that this one uses
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
  // Shuts down after SIGTERM or SIGINT as the directives shutdown-on-… say. Waits while the timer is paused. If data
  // must be saved, also waits until a running script ends, so that no partial effects are saved. Also waits for the
  // first rewrite after `CONFIG SET appendonly yes`.
  void HandleSignal(int signal);  // shuts down after SIGTERM or SIGINT as shutdown-on-… says
  void Continue();                // called by the timer: ends a delayed shutdown when it may
  bool Abort();                   // SHUTDOWN ABORT; returns false if no shutdown is delayed
  void OnCancelled(std::function<void()> handler) { on_cancelled_ = std::move(handler); }  // a shutdown by signal

  // Runs `handler` with an empty text when a shutdown begins, and with a status text as it proceeds.
  void OnStatus(std::function<void(const std::string&)> handler) {  // shown to the operator
    tell_status_ = std::move(handler);
  }

  void SetReplicasToWaitFor(ReplicasToWaitFor* followers) {  // may be null; must outlive the Shutdown
    followers_ = followers;
  }
  void AddWaitingClient(const Session& session) {  // it gets an error if the delayed shutdown fails
    waiting_.push_back(session.id);
  }
  // Returns how long replicas still have, or nullopt if the shutdown does not wait for them.
  std::optional<int64_t> MillisecondsLeft() const;  // for slow replicas; nullopt: it does not wait for them

  void NeverSave() { must_never_save_ = true; }  // makes every later shutdown skip saving

  // Returns true when the data is saved and no command may run any more.
  bool Done() const { return parts_.env.phase.HasStopped(); }

 private:
  struct Delayed {        // a shutdown that waits for replicas
    uint32_t flags;       // kShutdown… bits
    int64_t deadline_ms;  // in Pace time
  };

  bool MustSave(uint32_t flags) const;             // an RDB file must be saved
  bool MustWaitForReplicas(uint32_t flags) const;  // for replicas
  bool StartFirstRewriteIfNeeded(uint32_t flags);  // starts it if needed; returns true until it has ended
  void DelayForReplicas(uint32_t flags);           // until replicas have everything
  // Ends the wait for replicas if they have everything or the time has passed.
  void FinishShutdownIfReady();
  Outcome End(uint32_t flags);
  void AnswerWaitingClients();                       // sends an error to the clients that wait for a failed shutdown
  Outcome SaveBeforeExit(uint32_t flags);            // ends children, syncs the append-only file and saves the RDB
  Outcome SyncAppendOnlyFile(uint32_t flags);        // brings every acknowledged command to the disk
  Outcome Refuse(uint32_t flags, const char* what);  // logs an error; kStopping if the shutdown is forced

  void HandleCancellation();                          // the server keeps running
  void TellStatus(const std::string& status) const {  // to the handler of OnStatus
    if (tell_status_) tell_status_(status);
  }

  const Parts parts_;                       // the objects that this one uses
  bool must_never_save_ = false;            // see NeverSave
  ReplicasToWaitFor* followers_ = nullptr;  // replicas to wait for; may be null
  std::optional<Delayed> delayed_;          // set while a shutdown waits for replicas
  std::vector<uint64_t> waiting_;           // IDs of clients that wait for the shutdown
  int signal_ = 0;                          // of the delayed shutdown; 0: none
  // Set while a signal waits for the first base of the append-only file: the number of failed rewrites when the wait
  // began.
  std::optional<uint64_t> rewrite_failures_before_wait_;  // ConsecutiveFailures() when a wait began; nullopt: no wait
  std::function<void()> on_cancelled_;                    // a shutdown by signal was cancelled or failed
  std::function<void(const std::string&)> tell_status_;   // shown to the operator
};

}  // namespace respite
