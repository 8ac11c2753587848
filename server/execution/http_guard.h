// HttpGuard: closes the connection of a browser that was tricked into sending requests to the server. Lines after POST
// or Host: could contain commands.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "server/runtime/env.h"

namespace respite {

class Clients;
class Pace;
struct Session;

class HttpGuard {  // closes connections of browsers
 public:
  struct Parts {  // the objects that HttpGuard uses; its constructor gets them
    const Env& env;
    Clients& clients;  // all sessions
  };
  explicit HttpGuard(const Parts& parts) : parts_(parts) {}

  static bool IsHttp(Bytes word) {  // a command name that only an HTTP client sends
    return EqualsIgnoreCase(word, "post") || EqualsIgnoreCase(word, "host:");
  }
  // Closes the session, and logs a possible attack at most once a minute.
  void Abort(Session& session);  // closes the session

 private:
  static constexpr int64_t kMinLogIntervalMs = 60'000;  // logs no more often, so that an attacker cannot fill the disk
  static constexpr int64_t kNever = -1;                 // nothing was logged yet

  const Parts parts_;           // the objects that the constructor got
  int64_t logged_ms_ = kNever;  // real elapsed time (Pace) of the last log line
};

}  // namespace respite
