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

// Replicas that should have the whole stream before the server ends
class Followers {
 public:
  virtual ~Followers() = default;
  virtual bool HaveEverything() const = 0;
  // Requests acknowledgements from all replicas.
  virtual void AskForEverything() = 0;
  // Logs which replicas lag. Called at the end.
  virtual void LogLag() const = 0;
};

class Shutdown {
 public:
  // kWaiting: waits for replicas.
  enum class Outcome : uint8_t { kStopping, kFailed, kWaiting };

  struct Parts {
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

  // Begins a shutdown. `flags` are kShutdown… bits. Errors are logged.
  Outcome Begin(uint32_t flags);
  // Shuts down after SIGTERM or SIGINT as the directives shutdown-on-… say. Waits while the timer is paused. If data
  // must be saved, also waits until a running script ends, so that no partial effects are saved. Also waits for the
  // first rewrite after `CONFIG SET appendonly yes`.
  void Signalled(int signal);
  // Starts a delayed shutdown. Called by the timer.
  void Continue();
  // Cancels a delayed shutdown. Returns false if there is none.
  bool Abort();
  // Runs `handler` when a shutdown by signal was cancelled or failed.
  void OnCancelled(std::function<void()> handler) { on_cancelled_ = std::move(handler); }

  // Runs `handler` with an empty text when a shutdown begins, and with a status text as it proceeds.
  void OnStatus(std::function<void(const std::string&)> handler) { tell_status_ = std::move(handler); }

  // Sets the replicas that a shutdown waits for. May be null. Must outlive the Shutdown.
  void WaitFor(Followers* followers) { followers_ = followers; }
  // Records a client that waits for a delayed shutdown (SHUTDOWN). The client gets an error if the server does not end.
  void AddWaiting(const Session& session) { waiting_.push_back(session.id); }
  // Returns how long replicas still have, or nullopt if the shutdown does not wait for them.
  std::optional<int64_t> MillisecondsLeft() const;

  // Makes every later shutdown skip saving.
  void NeverSave() { never_saves_ = true; }

  // Returns true when the data is saved and no command may run any more.
  bool Done() const { return parts_.env.phase.HasStopped(); }

 private:
  // A shutdown that waits for replicas
  struct Delayed {
    uint32_t flags;
    int64_t deadline_ms;  // in Pace time
  };

  bool Saves(uint32_t flags) const;
  bool MustWait(uint32_t flags) const;
  bool WaitsForFirstRewrite(uint32_t flags);
  void Delay(uint32_t flags);
  // Ends the wait for replicas if they have everything or the time has passed.
  void FinishShutdownIfReady();
  Outcome End(uint32_t flags);
  // Sends an error to the clients that wait for a shutdown that has failed.
  void AnswerWaiting();
  Outcome Finish(uint32_t flags);
  // Makes sure that the effect of every acknowledged command is on the disk.
  Outcome FinishJournal(uint32_t flags);
  Outcome Refuse(uint32_t flags, const char* what);

  void GiveUp();
  void TellStatus(const std::string& status) const {
    if (tell_status_) tell_status_(status);
  }

  const Parts parts_;
  bool never_saves_ = false;
  Followers* followers_ = nullptr;
  std::optional<Delayed> delayed_;
  std::vector<uint64_t> waiting_;  // ids
  int signal_ = 0;                 // of the delayed shutdown; 0: none
  // Set while a signal waits for the first base of the append-only file: the number of failed rewrites when the wait
  // began.
  std::optional<uint64_t> base_wait_;
  std::function<void()> on_cancelled_;
  std::function<void(const std::string&)> tell_status_;
};

}  // namespace respite
