// ClientLimits: closes clients that idle too long, send too large requests or do not read their replies. Clients that
// have not logged in have small limits, for each client and for all of them together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/runtime/env.h"

namespace respite {

class Clients;
struct Session;
class Users;

class ClientLimits {  // closes clients that are idle too long, or exceed a limit of input or output
 public:
  struct Parts {  // the objects that ClientLimits uses; its constructor gets them
    const Env& env;
    Clients& clients;  // the sessions of all clients
    Users& users;      // all ACL users
  };
  explicit ClientLimits(const Parts& parts) : parts_(parts) {}

  // Closes the session if its TLS handshake or its idle time takes too long, or if its output exceeds the limit. If the
  // session stays open, updates the statistics of its buffers and shrinks an idle input buffer. Called by the timer.
  // Cost: O(1).
  void Check(Session& session, int64_t now_ms);  // the timer's check: closes the session if it is idle or over a limit

  // When output is checked: after a reply is written, or by the timer. The log texts differ.
  enum class Moment : uint8_t { kReply, kTimer };
  // Closes the session if its output exceeds client-output-buffer-limit, or 64 KB before the client has logged in, or
  // if a part of the output was dropped (ReplyBuffer::HasOverflowed). Must be called whenever output is queued.
  bool EnforceOutputLimit(Session& session, int64_t now_ms, Moment moment = Moment::kReply);  // true: over, now closed
  // Returns how much memory the output of this session may hold while a command writes its reply (ReplyBuffer), so that
  // a single command or EXEC cannot exceed the hard limit. Links to other servers have no such limit: a replica or the
  // primary.
  size_t MaxHeldOutputBytes(const Session& session) const;  // limit of its ReplyBuffer, or ReplyBuffer::kNoLimit
  // Limits for unfinished requests of clients that have not logged in. Each such client may hold
  // kMaxUnauthenticatedInputBytes bytes. While all of them together hold more than kMaxTotalUnauthenticatedInputBytes,
  // each is closed when it sends a request above kSmallInputBytes bytes.
  static constexpr size_t kMaxUnauthenticatedInputBytes = size_t{64} * 1024;
  static constexpr size_t kMaxTotalUnauthenticatedInputBytes = size_t{16} * 1024 * 1024;
  static constexpr size_t kSmallInputBytes = 1024;  // clients with smaller unfinished requests stay connected

  // Closes the client if its input exceeds client-query-buffer-limit, or the limits before login. Must be called after
  // each read.
  bool EnforceInputLimit(Session& session);  // closes the session if its input exceeds a limit; true: closed

 private:
  bool EnforceHandshakeTimeout(Session& session);  // closes a client whose TLS handshake takes too long; true: closed
  bool EnforceIdleTimeout(Session& session, int64_t now_ms);  // closes the session if it is idle too long; true: closed
  void ResizeEmulatedReplyBuffer(Session& session, int64_t now_ms);  // grows or shrinks the emulated size (CLIENT LIST)
  bool IsOverInputLimit(Session& session) const;  // true: input too long; updates unauthenticated_bytes
  bool IsOverOutputLimit(Session& session, int64_t now_ms) const;  // compares with both limits; notes when soft began

  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
