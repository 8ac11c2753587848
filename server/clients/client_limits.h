// ClientLimits: closes clients that idle too long, send too much at once or never read their replies.
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
  // Output up to one block costs nothing, as Redis' static buffer. Omem: what is beyond.
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

  // All limits of one session; the timer's round. Cost: O(1).
  void Check(Session& session, int64_t now_ms);

  // When output is looked at: as a reply is written, or by the timer. The log tells them apart.
  enum class Moment : uint8_t { kReply, kTimer };
  // client-output-buffer-limit; to be asked whenever a reply is queued that nobody may read. True: the session is
  // closed.
  bool CheckOutput(Session& session, int64_t now_ms, Moment moment = Moment::kReply);
  // client-query-buffer-limit, after each read. True: the session is closed.
  bool CheckInput(Session& session);

 private:
  bool CheckHandshake(Session& session, int64_t now_ms);
  bool CheckIdle(Session& session, int64_t now_ms);
  void FitReplyRoom(Session& session, int64_t now_ms);
  bool IsOverOutputLimit(Session& session, int64_t now_ms) const;

  const Parts parts_;
};

}  // namespace respite
