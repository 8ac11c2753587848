// Handshake: the requests that a replica sends to its primary before the stream: PING, AUTH, REPLCONF …, PSYNC, one
// after the other. Handshake also interprets the replies.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/log.h"
#include "server/runtime/env.h"

namespace respite {

class Failover;
struct History;

class Handshake {  // composes a replica's requests before the stream: PING, AUTH, REPLCONF, PSYNC
 public:
  struct Parts {  // the arguments of the constructor
    const Env& env;
    History& history;               // replication ID and offset of this server; gets what PSYNC tells about them
    const Failover& failover;       // tells whether PSYNC must end with the word FAILOVER
    const std::string& replica_id;  // names this replica, so that the primary closes its older connection
  };
  enum class MayContinue : uint8_t { kNo, kYes };  // kYes: PSYNC may ask for a partial resynchronisation

  Handshake(const Parts& parts, MayContinue may_continue) : parts_(parts), may_continue_(may_continue) {}

  std::string NextRequest();  // returns the next request to send, as RESP text

  enum class Verdict : uint8_t {
    kNext,             // send the next request
    kWait,             // the line was not a reply yet
    kContinue,         // +CONTINUE: the stream follows, from the offset of this replica on
    kSnapshot,         // a snapshot follows, then the stream
    kTargetIsPrimary,  // the target of a failover is a primary already
    kOldSync,          // the primary has no PSYNC: send SYNC; a snapshot follows, whose history has no ID
    kFail,             // the handshake has failed; the reason is logged
  };
  Verdict HandleLine(Bytes line);  // handles one line of the primary; returns what must happen next

  bool HasSentPsync() const { return step_ >= Step::kPsync; }  // true: PSYNC was sent
  // Returns the replication ID in the primary's reply to PSYNC. After kContinue, an empty ID means that the replication
  // ID has not changed.
  const std::string& id() const { return id_; }
  int64_t offset() const { return offset_; }  // replication offset in the reply to PSYNC; -1: none received
  const std::string& failure() const { return failure_; }  // why HandleLine returned kFail, for INFO

 private:
  // The request that was sent last, in the order of sending. kPort, kAddress, kCapabilities and kVersion: REPLCONF.
  enum class Step : uint8_t { kPing, kAuth, kPort, kAddress, kCapabilities, kVersion, kPsync, kSync };

  bool IsWanted(Step step) const;                  // false: the settings make this request unnecessary
  Verdict HandlePingReply(Bytes line);             // interprets the reply to PING
  Verdict Fail(LogLevel level, std::string text);  // logs the text and returns kFail
  Verdict HandlePsyncReply(Bytes line);            // interprets the reply to PSYNC
  Verdict ParseContinue(Bytes line);               // reads what follows "+CONTINUE": an ID and perhaps an offset
  Verdict ParseFullResync(Bytes line);             // reads ID and offset from "+FULLRESYNC ID OFFSET"
  std::string PsyncRequest() const;                // the PSYNC request as RESP text

  const Parts parts_;               // the arguments of the constructor
  const MayContinue may_continue_;  // whether PSYNC may ask for a continuation instead of a snapshot
  Step step_ = Step::kPing;
  bool has_begun_ = false;  // true: NextRequest has returned the first request
  std::string id_;
  int64_t offset_ = -1;  // replication offset in the reply to PSYNC; -1: not received
  std::string failure_;  // why the handshake has failed; empty: it has not failed
};

}  // namespace respite
