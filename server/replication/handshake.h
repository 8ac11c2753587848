// Handshake: the requests that a replica sends to its primary before the stream: PING, AUTH, REPLCONF …, PSYNC, one
// after the other. It also interprets the replies.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/log.h"
#include "server/runtime/env.h"

namespace respite {

class Failover;
struct History;

class Handshake {
 public:
  struct Parts {
    const Env& env;
    const History& history;
    const Failover& failover;
  };
  enum class MayContinue : uint8_t { kNo, kYes };  // kYes: the history here is or was the primary's

  Handshake(const Parts& parts, MayContinue may_continue) : parts_(parts), may_continue_(may_continue) {}

  // Returns the next request to send, as RESP text.
  std::string NextRequest();

  enum class Verdict : uint8_t {
    kNext,      // send the next request
    kWait,      // the line was not a reply yet
    kContinue,  // the stream follows after the end of the history here
    kSnapshot,  // a snapshot follows, then the stream
    kOldSync,   // for a primary without PSYNC: send SYNC, then as kSnapshot, but the history has no ID
    kFail,      // already logged
  };
  // Reads one line from the primary.
  Verdict Answer(Bytes line);

  // Returns whether PSYNC was sent.
  bool HasAsked() const { return step_ >= Step::kPsync; }
  // Returns the history that the primary named. After kContinue an empty ID means that the ID has not changed.
  const std::string& id() const { return id_; }
  int64_t offset() const { return offset_; }
  // Returns the reason for kFail, for INFO.
  const std::string& failure() const { return failure_; }

 private:
  enum class Step : uint8_t { kPing, kAuth, kPort, kAddress, kCapabilities, kVersion, kPsync, kSync };

  bool IsWanted(Step step) const;
  Verdict AnswerToPing(Bytes line);
  Verdict Fail(LogLevel level, std::string text);
  Verdict AnswerToPsync(Bytes line);
  Verdict ReadHistory(Bytes line);
  std::string PsyncRequest() const;

  const Parts parts_;
  const MayContinue may_continue_;
  Step step_ = Step::kPing;
  bool has_begun_ = false;
  std::string id_;
  int64_t offset_ = -1;
  std::string failure_;
};

}  // namespace respite
