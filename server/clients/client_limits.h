// ClientLimits: closes clients that idle too long, send too large requests or do not read their replies. Clients that
// have not logged in have small limits, individually and together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/runtime/env.h"

namespace respite {

class Clients;
struct Session;
class Users;

class ClientLimits {  // closes clients that idle, or exceed the limits of input or output
 public:
  struct Parts {  // the objects that it uses
    const Env& env;
    Clients& clients;
    Users& users;
  };
  explicit ClientLimits(const Parts& parts) : parts_(parts) {}

  // Closes the session if its TLS handshake or its idle time takes too long, or if its output exceeds the limit.
  // Otherwise notes the sizes of its buffers for INFO, and fits them to their use. Called by the timer. Cost: O(1).
  void Check(Session& session, int64_t now_ms);

  // Whether output is checked when a reply is written or by the timer; the log texts differ.
  enum class Moment : uint8_t { kReply, kTimer };
  // Enforces client-output-buffer-limit. Must be called whenever output is queued.
  bool EnforceOutputLimit(Session& session, int64_t now_ms, Moment moment = Moment::kReply);  // true: it was closed
  // Limits for unfinished requests of clients that have not logged in. Each holds at most kMaxUnauthenticatedInputBytes
  // bytes. When all together hold more than kMaxTotalUnauthenticatedInputBytes, clients with requests above
  // kSmallInputBytes bytes are closed.
  static constexpr size_t kMaxUnauthenticatedInputBytes = size_t{64} * 1024;
  static constexpr size_t kMaxTotalUnauthenticatedInputBytes = size_t{16} * 1024 * 1024;
  static constexpr size_t kSmallInputBytes = 1024;  // clients with less stay connected

  // Enforces client-query-buffer-limit and the limits of clients that have not logged in. Must be called after each
  // read.
  bool EnforceInputLimit(Session& session);  // true: it was closed

 private:
  bool EnforceHandshakeTimeout(Session& session);                    // of TLS; true: it was closed
  bool EnforceIdleTimeout(Session& session, int64_t now_ms);         // true: it was closed
  void ResizeEmulatedReplyBuffer(Session& session, int64_t now_ms);  // for CLIENT LIST
  bool IsOverInputLimit(Session& session) const;                     // also updates unauthenticated_bytes
  bool IsOverOutputLimit(Session& session, int64_t now_ms) const;    // also notes since when it exceeds the soft limit

  const Parts parts_;  // the objects that it uses
};

}  // namespace respite
