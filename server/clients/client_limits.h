// ClientLimits: closes clients that idle too long, send too large requests or do not read their replies. Clients that
// have not logged in have small limits, individually and together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "protocol/reply_buffer.h"
#include "server/runtime/env.h"

namespace respite {

class Clients;
class Clock;
struct DebugSwitches;
class Logger;
struct ServerStats;
struct Session;
struct Settings;
class Users;

// Statistics of one session's output.
//
// Redis: each client has its own reply buffer, which is resized to fit its replies. Respite's clients share blocks of a
// pool while they have output; room and peak emulate the size of Redis' buffer.
class OutputAccount {
 public:
  explicit OutputAccount(int64_t now_ms) : peak_since_ms_(now_ms) {}

  size_t RoomBytes() const { return room_bytes_; }
  // Returns the largest part of the room that was used recently.
  size_t PeakBytes() const { return peak_bytes_; }
  // Notes the size of the output that waits to be sent.
  void NoteOutput(size_t bytes) { peak_bytes_ = std::max(peak_bytes_, std::min(bytes, room_bytes_)); }

 private:
  friend class ClientLimits;
  static constexpr int64_t kNotOver = -1;

  size_t room_bytes_ = BlockPool::kBlockBytes;
  size_t peak_bytes_ = BlockPool::kBlockBytes;  // since peak_since_ms_
  int64_t peak_since_ms_;
  int64_t over_soft_limit_since_ms_ = kNotOver;
};

class ClientLimits {
 public:
  // Output up to one block is not counted, like Redis' static buffer. "omem" is the output above it.
  static constexpr size_t kFreeOutputBytes = BlockPool::kBlockBytes;
  static size_t OutputBytes(const Session& session);

  struct Parts {
    const Env& env;
    Clients& clients;
    Users& users;
  };
  explicit ClientLimits(const Parts& parts) : parts_(parts) {}

  // Checks all limits of one session. Called by the timer. Cost: O(1).
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
