// HttpGuard: closes a connection that sends the HTTP words "POST" or "Host:" as a command. A malicious web page may
// have made a browser connect, and the lines after these words could contain commands.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "server/runtime/env.h"

namespace respite {

class Clients;
class RealClock;
struct Session;

class HttpGuard {  // closes connections on which a browser sends HTTP
 public:
  struct Parts {  // the objects that HttpGuard uses; its constructor gets them
    const Env& env;
    Clients& clients;  // all sessions
  };
  explicit HttpGuard(const Parts& parts) : parts_(parts) {}

  static bool IsHttp(Bytes word) {  // whether a command name is "POST" or "Host:"
    return EqualsIgnoreCase(word, "post") || EqualsIgnoreCase(word, "host:");
  }
  void Abort(Session& session);  // closes the session; logs a possible attack, at most once a minute

 private:
  static constexpr int64_t kMinLogIntervalMs = 60'000;  // more than this time passes between two log lines
  static constexpr int64_t kNever = -1;                 // value of logged_ms_ before the first log line

  const Parts parts_;           // the objects that the constructor got
  int64_t logged_ms_ = kNever;  // when the last attack was logged (real time)
};

}  // namespace respite
