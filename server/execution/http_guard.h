// HttpGuard: closes the connection of a browser that was tricked into talking to the server: lines after POST or Host:
// could contain commands.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace respite {

class Clients;
class Logger;
class Pace;
struct Session;

class HttpGuard {
 public:
  struct Parts {
    const Pace& pace;
    Logger& log;
    Clients& clients;
  };
  explicit HttpGuard(const Parts& parts) : parts_(parts) {}

  static bool IsHttp(Bytes word) { return EqualsIgnoreCase(word, "post") || EqualsIgnoreCase(word, "host:"); }
  // Logs it, once a minute at most, and closes the session.
  void Abort(Session& session);

 private:
  static constexpr int64_t kQuietMs = 60'000;  // the log must not become a way to fill the disk
  static constexpr int64_t kNever = -1;

  const Parts parts_;
  int64_t logged_ms_ = kNever;  // of the Pace
};

}  // namespace respite
