// Shutdown: SHUTDOWN, SIGTERM and SIGINT. Ends children, saves what must be saved, and then stops the host. If saving
// fails the server keeps running, unless it was forced to end. Replicas that are behind get shutdown-timeout seconds to
// catch up first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/late_bound.h"
#include "server/clients/server_phase.h"
#include "server/clients/session.h"
#include "server/config/settings.h"

namespace respite {

class AppendOnlyFile;
class Clients;
struct DebugSwitches;
class Host;
class Loading;
class Logger;
class ChildProcesses;
class Pace;
class Pause;
class ScriptRunner;
struct Settings;
class Snapshots;
class BlockedClients;

// Those who should have everything before the server ends.
class Followers {
 public:
  virtual ~Followers() = default;
  virtual bool HaveEverything() const = 0;
  // Asks them how far they are.
  virtual void AskForEverything() = 0;
  // At the end: says in the log who lags behind.
  virtual void LogLag() const = 0;
};

class Shutdown {
 public:
  // kWaiting: for replicas.
  enum class Outcome : uint8_t { kStopping, kFailed, kWaiting };

  struct Parts {
    const Settings& settings;
    Logger& log;
    const LateBound<Host>& host;
    ScriptRunner& scripts;
    AppendOnlyFile& aof;
    Snapshots& snapshots;
    Loading& loading;
    ChildProcesses& child_processes;
    DebugSwitches& debug;
    const Pace& pace;
    Pause& pause;
    BlockedClients& blocked_clients;
    Clients& clients;
    ServerPhase& phase;
  };
  explicit Shutdown(const Parts& parts) : parts_(parts) {}

  // `flags` are kShutdown… bits. Errors are logged.
  Outcome Begin(uint32_t flags);
  // SIGTERM or SIGINT: shuts down as the directives shutdown-on-… say. Waits while the timer is paused, and, if data is
  // to be saved, until a running script ends, so that no half of a script is saved. Waits, too, for the first rewrite
  // after `CONFIG SET appendonly yes`.
  void Signalled(int signal);
  // For the timer: starts a delayed shutdown.
  void Continue();
  // Cancels a delayed shutdown; false if there is none.
  bool Abort();
  // Runs `handler` when a shutdown by signal was cancelled or failed.
  void OnCancelled(std::function<void()> handler) { on_cancelled_ = std::move(handler); }

  // Runs `handler` with an empty text when a shutdown begins, and with a status text as it proceeds.
  void OnStatus(std::function<void(const std::string&)> handler) { tell_status_ = std::move(handler); }

  // Everything is saved: no command may run any more.
  // Replicas; may be null. Must outlive it.
  void WaitFor(Followers* followers) { followers_ = followers; }
  // A client waits for the end of a shutdown that waits (SHUTDOWN). It is answered if the server does not end.
  void AddWaiting(const Session& session) { waiting_.push_back(session.id); }
  // How long replicas may take; nothing: it does not wait for them.
  std::optional<int64_t> MillisecondsLeft() const;

  // There is nothing to save.
  void NeverSave() { never_saves_ = true; }

  bool Done() const { return parts_.phase.HasStopped(); }

 private:
  // That waits for replicas.
  struct Delayed {
    uint32_t flags;
    int64_t deadline_ms;  // of the Pace
  };

  bool Saves(uint32_t flags) const;
  bool MustWait(uint32_t flags) const;
  bool WaitsForFirstRewrite(uint32_t flags);
  void Delay(uint32_t flags);
  // Ends the wait for replicas, if it is over.
  void FinishShutdownIfReady();
  Outcome End(uint32_t flags);
  // The clients that wait for it have waited in vain.
  void AnswerWaiting();
  Outcome Finish(uint32_t flags);
  // Makes sure that every acknowledged effect is on the disk.
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
  // A signal waits for the first base of the append-only file: failures of rewrites when that began.
  std::optional<uint64_t> base_wait_;
  std::function<void()> on_cancelled_;
  std::function<void(const std::string&)> tell_status_;
};

}  // namespace respite
