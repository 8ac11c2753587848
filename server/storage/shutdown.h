// Shutdown: the way to the end: SHUTDOWN, SIGTERM and SIGINT. Children are ended, what is to be saved is saved, and
// only then does the host stop. What cannot be saved keeps the server running, unless it was told to end anyway.
#pragma once

#include <cstdint>

#include "server/config/settings.h"

namespace respite {

class Server;

class Shutdown {
 public:
  enum class Outcome : uint8_t { kStopping, kFailed };

  explicit Shutdown(Server& server) : server_(server) {}

  // `flags` are kShutdown… bits. What failed is in the log.
  Outcome Begin(uint32_t flags);
  // SIGTERM or SIGINT, as the directives shutdown-on-… say. In the middle of a script it waits for its end if something
  // is to be saved: half a script is not to be saved.
  enum class SignalOutcome : uint8_t { kStopping, kFailed, kLater };
  SignalOutcome OnSignal(int signal);

  // The server has saved what it saves: from now on no command may run.
  bool Done() const { return done_; }

 private:
  bool Saves(uint32_t flags) const;
  Outcome Finish(uint32_t flags);
  Outcome Refuse(uint32_t flags, const char* what);

  Server& server_;
  bool done_ = false;
};

}  // namespace respite
