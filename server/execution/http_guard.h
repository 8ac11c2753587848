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
  struct Parts {  // the objects that it uses
    const Env& env;
    Clients& clients;
  };
  explicit HttpGuard(const Parts& parts) : parts_(parts) {}

  static bool IsHttp(Bytes word) { return EqualsIgnoreCase(word, "post") || EqualsIgnoreCase(word, "host:"); }
  // Closes the session, and logs an attack at most once a minute.
  void Abort(Session& session);  // closes it

 private:
  static constexpr int64_t kMinLogIntervalMs = 60'000;  // so that an attacker cannot fill the disk through the log
  static constexpr int64_t kNever = -1;                 // nothing was logged yet

  const Parts parts_;           // the objects that it uses
  int64_t logged_ms_ = kNever;  // Pace time of the last log line
};

}  // namespace respite
