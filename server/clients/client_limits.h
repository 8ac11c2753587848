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

class ClientLimits {
 public:
  struct Parts {
    const Env& env;
    Clients& clients;
    Users& users;
  };
  explicit ClientLimits(const Parts& parts) : parts_(parts) {}

  // Closes the session if its TLS handshake or its idle time takes too long, or if its output is over the limit.
  // Otherwise notes the sizes of its buffers for INFO, and fits them to their use. Called by the timer. Cost: O(1).
  void Check(Session& session, int64_t now_ms);

  // Whether output is checked when a reply is written or by the timer; the log texts differ.
  enum class Moment : uint8_t { kReply, kTimer };
  // Enforces client-output-buffer-limit. Must be called whenever output is queued. Returns true if it closed the
  // session.
  bool CheckOutput(Session& session, int64_t now_ms, Moment moment = Moment::kReply);
  // Limits for unfinished requests of clients that have not logged in. Each holds at most kUnauthenticatedInput bytes.
  // When all together hold more than kAllUnauthenticatedInput, clients with requests above kSmallInput bytes are
  // closed.
  static constexpr size_t kUnauthenticatedInput = size_t{64} * 1024;
  static constexpr size_t kAllUnauthenticatedInput = size_t{16} * 1024 * 1024;
  static constexpr size_t kSmallInput = 1024;

  // Enforces client-query-buffer-limit and the limits of clients that have not logged in. Must be called after each
  // read. Returns true if it closed the session.
  bool CheckInput(Session& session);

 private:
  bool CheckHandshake(Session& session);
  bool CheckIdle(Session& session, int64_t now_ms);
  void FitReplyRoom(Session& session, int64_t now_ms);
  bool IsOverInputLimit(Session& session) const;
  bool IsOverOutputLimit(Session& session, int64_t now_ms) const;

  const Parts parts_;
};

}  // namespace respite
