#include "server/execution/http_guard.h"

#include <string>

#include "base/log.h"
#include "base/real_clock.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"

namespace respite {

void HttpGuard::Abort(Session& session) {
  const int64_t now_ms = parts_.env.real_clock.NowMs();
  if (logged_ms_ == kNever || now_ms - logged_ms_ > kMinLogIntervalMs) {
    logged_ms_ = now_ms;
    // The message shows every client of a Unix socket as "/unixsocket:0", as in Redis.
    const std::string peer =
        session.addresses.is_unix_socket ? "/unixsocket:0" : RemoveIpv6Brackets(session.addresses.peer);
    parts_.env.log.Warning(
        "Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to Redis. This is "
        "likely due to an attacker attempting to use Cross Protocol Scripting to compromise your Redis instance. "
        "Connection from " +
        peer + " aborted.");
  }
  parts_.clients.Close(session);
}

}  // namespace respite
