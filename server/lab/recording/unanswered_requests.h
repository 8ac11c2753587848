// UnansweredRequests: the requests of one recorded connection that await a reply. Finds the request to which a reply
// belongs. Three cases are special: SUBSCRIBE gets messages instead of a reply, CLIENT REPLY may turn replies off, and
// the reply to EXEC contains the replies to the queued requests.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "protocol/reply_tree.h"
#include "protocol/request_parser.h"

namespace respite {

struct AskedRequest {                                 // a request that awaits a reply
  std::vector<std::string> words;                     // arguments, including the command name
  std::vector<std::vector<std::string>> queued = {};  // for EXEC: the requests queued since MULTI
  bool is_confirmed_by_messages = false;              // true for SUBSCRIBE and the like: messages replace the reply
  size_t received_confirmations = 0;  // for SUBSCRIBE and the like: how many of its messages have arrived
};

class UnansweredRequests {  // the requests of one connection that await a reply
 public:
  void Feed(Bytes bytes);  // parses bytes that the client has sent, and adds the requests that get a reply
  std::optional<AskedRequest> Take(const ReplyTree& reply);  // takes out the request of this reply; nullopt: none
  void Confirm(const ReplyTree& message);  // handles a Pub/Sub message, which may confirm the oldest SUBSCRIBE
  bool IsPubSubMessage(const ReplyTree& reply) const;  // a Pub/Sub message or a confirmation of SUBSCRIBE, not a reply

  uint64_t count() const { return count_; }                         // number of requests that Feed has parsed
  bool IsIncomparable() const { return has_other_protocol_; }       // true after SYNC, PSYNC or MONITOR: no replies
  bool MayHaveMovedClock() const { return may_have_moved_clock_; }  // true: a request may have moved the server's clock

 private:
  enum class ReplyMode : uint8_t { kOn, kOff, kSkipNext };  // modes of CLIENT REPLY; kSkipNext: SKIP

  void Receive(std::vector<std::string> words);  // handles one request that the parser has read
  void NoteReplyMode(const std::string& mode);   // handles CLIENT REPLY ON, OFF or SKIP
  void AddOwed(std::vector<std::string> words);  // appends a request that gets a reply; records MULTI, EXEC, DISCARD

  RequestParser parser_;           // parses the bytes that the client sends
  RequestBatch batch_;             // the requests that parser_ has just read; empty between calls of Feed
  std::deque<AskedRequest> owed_;  // requests that await a reply, oldest first
  std::optional<std::vector<std::vector<std::string>>> queue_;  // requests queued since MULTI; nullopt: no MULTI
  ReplyMode reply_mode_ = ReplyMode::kOn;                       // mode of CLIENT REPLY
  bool has_subscribed_ = false;        // true: the client has sent SUBSCRIBE or similar, so messages may arrive
  bool has_other_protocol_ = false;    // true: SYNC, PSYNC or MONITOR was sent, so what follows is not parsed
  bool may_have_moved_clock_ = false;  // TEST CLOCK, RESET, SNAPSHOT or WORLD was sent, or a login to a world
  uint64_t count_ = 0;                 // number of requests that were parsed so far
};

}  // namespace respite
