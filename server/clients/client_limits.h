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

  // Closes the session if its TLS handshake takes over 30 s, if the client is idle for longer than `timeout`, or if its
  // output exceeds the limit. If the session stays open, updates the statistics and emulated sizes of its buffers, and
  // shrinks an idle input buffer. Called by the timer. Cost: O(1).
  void Check(Session& session, int64_t now_ms);  // the timer's check: closes the session if it is idle or over a limit

  // When output is checked: after a reply is written, or by the timer. The log texts differ.
  enum class Moment : uint8_t { kReply, kTimer };  // when output is checked
  // Closes the session if its output exceeds client-output-buffer-limit, or 64 KB before the client has logged in. Also
  // closes the session if some of the output was dropped (ReplyBuffer::HasOverflowed). Never closes the link to the
  // primary. Must be called whenever output is queued.
  bool EnforceOutputLimit(Session& session, int64_t now_ms, Moment moment = Moment::kReply);  // true: now closed
  // Returns the limit for ReplyBuffer::SetLimit in bytes: the hard limit of client-output-buffer-limit. A longer reply
  // is dropped, and the client is closed. So one command or EXEC cannot use more memory. Returns kNoLimit for the links
  // to replicas and to the primary, and if there is no hard limit.
  size_t MaxHeldOutputBytes(const Session& session) const;  // limit in bytes, or ReplyBuffer::kNoLimit
  // Limits for unfinished requests of clients that have not logged in. Each such client may hold
  // kMaxUnauthenticatedInputBytes bytes. While all of them together hold more than kMaxTotalUnauthenticatedInputBytes,
  // each is closed when it sends a request above kSmallInputBytes bytes.
  static constexpr size_t kMaxUnauthenticatedInputBytes = size_t{64} * 1024;  // per client
  static constexpr size_t kMaxTotalUnauthenticatedInputBytes = size_t{16} * 1024 * 1024;
  static constexpr size_t kSmallInputBytes = 1024;  // clients with unfinished requests up to this size stay connected

  // Closes the client if its input exceeds client-query-buffer-limit, or the limits before login. Must be called after
  // each read.
  bool EnforceInputLimit(Session& session);  // closes the session if its input exceeds a limit; true: closed

 private:
  bool EnforceHandshakeTimeout(Session& session);  // closes a client whose TLS handshake takes over 30 s; true: closed
  bool EnforceIdleTimeout(Session& session, int64_t now_ms);         // closes an idle ordinary client; true: closed
  void ResizeEmulatedReplyBuffer(Session& session, int64_t now_ms);  // updates rbs and rbp of CLIENT LIST
  bool IsOverInputLimit(Session& session) const;  // true: above the limit; updates unauthenticated_bytes
  // Returns whether the output is above the limit, or whether some output was dropped. Also notes since when the output
  // is above the soft limit.
  bool IsOverOutputLimit(Session& session, int64_t now_ms) const;  // true: above the limit, or output was dropped

  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
