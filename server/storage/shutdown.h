// Shutdown: the way to the end: SHUTDOWN, SIGTERM and SIGINT. Children are ended, what is to be saved is saved, and
// only then does the host stop. What cannot be saved keeps the server running, unless it was told to end anyway.
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

  // `flags` are kShutdown… bits. What failed is in the log.
  Outcome Begin(uint32_t flags);
  // SIGTERM or SIGINT: begins as the directives shutdown-on-… say. It waits while the timer is stopped, and for the end
  // of a script if something is to be saved: half a script is not to be saved.
  void Signalled(int signal);
  // For the timer: begins what had to wait.
  void GoOn();
  // Takes back what waits; false when nothing does.
  bool Abort();
  // Has `handler` run when a shutdown that a signal asked for is not to be.
  void OnGivenUp(std::function<void()> handler) { given_up_ = std::move(handler); }

  // Has `handler` run when a shutdown begins, with no text, and when there is a text to show about how it goes on.
  void OnStatus(std::function<void(const std::string&)> handler) { tell_status_ = std::move(handler); }

  // The server has saved what it saves: from now on no command may run.
  bool Done() const { return parts_.phase.HasStopped(); }

 private:
  bool Saves(uint32_t flags) const;
  Outcome Finish(uint32_t flags);
  // Nothing that was acknowledged may be left behind.
  Outcome FinishJournal(uint32_t flags);
  Outcome Refuse(uint32_t flags, const char* what);

  void GiveUp();
  void TellStatus(const std::string& status) const {
    if (tell_status_) tell_status_(status);
  }

  const Parts parts_;
  int signal_ = 0;  // that waits
  std::function<void()> given_up_;
  std::function<void(const std::string&)> tell_status_;
};

}  // namespace respite
