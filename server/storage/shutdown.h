// Shutdown: SHUTDOWN, SIGTERM and SIGINT. Ends children, saves what must be saved, and then stops the host. If saving
// fails the server keeps running, unless it was forced to end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "server/clients/phase.h"
#include "server/config/settings.h"

namespace respite {

class AppendOnlyFile;
struct DebugSwitches;
class HostPort;
class Loading;
class Logger;
class Nursery;
class ScriptRunner;
struct Settings;
class Snapshots;

class Shutdown {
 public:
  enum class Outcome : uint8_t { kStopping, kFailed };

  struct Parts {
    const Settings& settings;
    Logger& log;
    const HostPort& host;
    ScriptRunner& scripts;
    AppendOnlyFile& aof;
    Snapshots& snapshots;
    Loading& loading;
    Nursery& nursery;
    DebugSwitches& debug;
    Phase& phase;
  };
  explicit Shutdown(const Parts& parts) : parts_(parts) {}

  // `flags` are kShutdown… bits. Errors are logged.
  Outcome Begin(uint32_t flags);
  // SIGTERM or SIGINT: shuts down as the directives shutdown-on-… say. Waits while the timer is paused, and, if data is
  // to be saved, until a running script ends, so that no half of a script is saved.
  void Signalled(int signal);
  // For the timer: starts a delayed shutdown.
  void GoOn();
  // Cancels a delayed shutdown; false if there is none.
  bool Abort();
  // Runs `handler` when a shutdown by signal was cancelled or failed.
  void OnCancelled(std::function<void()> handler) { on_cancelled_ = std::move(handler); }

  // Runs `handler` with an empty text when a shutdown begins, and with a status text as it proceeds.
  void OnStatus(std::function<void(const std::string&)> handler) { tell_status_ = std::move(handler); }

  // Everything is saved: no command may run any more.
  bool Done() const { return parts_.phase.HasStopped(); }

 private:
  bool Saves(uint32_t flags) const;
  Outcome Finish(uint32_t flags);
  // Makes sure that every acknowledged effect is on the disk.
  Outcome FinishJournal(uint32_t flags);
  Outcome Refuse(uint32_t flags, const char* what);

  void GiveUp();
  void TellStatus(const std::string& status) const {
    if (tell_status_) tell_status_(status);
  }

  const Parts parts_;
  int signal_ = 0;  // of the delayed shutdown; 0: none
  std::function<void()> on_cancelled_;
  std::function<void(const std::string&)> tell_status_;
};

}  // namespace respite
