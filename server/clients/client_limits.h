// ClientLimits: closes clients that idle too long, send too large requests or do not read their replies.
#pragma once

#include <cstdint>

#include "protocol/reply_buffer.h"
#include "server/clients/session.h"

namespace respite {

class Clients;
class Clock;
struct DebugSwitches;
class Logger;
struct ServerStats;
struct Settings;
class Users;

class ClientLimits {
 public:
  // Output up to one block is free, like Redis' static buffer. "omem" is the output beyond it.
  static constexpr size_t kFreeOutputBytes = BlockPool::kBlockBytes;
  static size_t OutputBytes(const Session& session) {
    size_t held = session.out.HeldBytes();
    return held > kFreeOutputBytes ? held - kFreeOutputBytes : 0;
  }

  struct Parts {
    const Settings& settings;
    const Clock& clock;
    Logger& log;
    Clients& clients;
    Users& users;
    ServerStats& stats;
    DebugSwitches& debug;
  };
  explicit ClientLimits(const Parts& parts) : parts_(parts) {}

  // Checks all limits of one session; the timer calls it. Cost: O(1).
  void Check(Session& session, int64_t now_ms);

  // Whether output is checked when a reply is written or by the timer. The log distinguishes them.
  enum class Moment : uint8_t { kReply, kTimer };
  // client-output-buffer-limit; to be called whenever output is queued. True if it closed the session.
  bool CheckOutput(Session& session, int64_t now_ms, Moment moment = Moment::kReply);
  // client-query-buffer-limit, to be called after each read. True if it closed the session.
  bool CheckInput(Session& session);

 private:
  bool CheckHandshake(Session& session, int64_t now_ms);
  bool CheckIdle(Session& session, int64_t now_ms);
  void FitReplyRoom(Session& session, int64_t now_ms);
  bool IsOverOutputLimit(Session& session, int64_t now_ms) const;

  const Parts parts_;
};

}  // namespace respite
