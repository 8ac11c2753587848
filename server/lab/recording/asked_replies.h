// AskedReplies: the requests of one connection that await a reply. It matches each reply with its request. It handles
// the commands that change the number of replies: subscriptions, which are confirmed by messages; CLIENT REPLY; and
// EXEC, whose reply contains those of the queued requests.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "protocol/reply_tree.h"
#include "protocol/request_parser.h"

namespace respite {

struct AskedRequest {
  std::vector<std::string> words;
  std::vector<std::vector<std::string>> queued = {};  // the requests that EXEC runs
  bool is_confirmed_by_messages = false;
  size_t confirmations = 0;  // number of confirmations received
};

class AskedReplies {
 public:
  // Adds bytes that the client has sent.
  void Feed(Bytes bytes);
  // Returns the request that this reply belongs to. Replies come in order. Returns nullopt if no request awaits it.
  std::optional<AskedRequest> Take(const ReplyTree& reply);
  // Handles a message, which may confirm the first request that awaits confirmations.
  void Confirm(const ReplyTree& message);
  // Returns true for an unsolicited message or a confirmation of a subscription, and false for a reply.
  bool IsMessage(const ReplyTree& reply) const;

  uint64_t count() const { return count_; }
  // Returns true if another protocol follows, because the client is a replica or uses MONITOR.
  bool IsForeign() const { return is_foreign_; }
  // Returns true if the client has moved a clock with TEST or has entered a world, which has its own clock.
  bool HasOwnTime() const { return has_own_time_; }

 private:
  enum class Answers : uint8_t { kOn, kOff, kSkipNext };

  void Receive(std::vector<std::string> words);
  void NoteReplyMode(const std::string& mode);
  void Queue(std::vector<std::string> words);

  RequestParser parser_;
  RequestBatch batch_;
  std::deque<AskedRequest> owed_;
  std::optional<std::vector<std::vector<std::string>>> queue_;  // requests queued since MULTI
  Answers answers_ = Answers::kOn;
  bool has_subscribed_ = false;
  bool is_foreign_ = false;
  bool has_own_time_ = false;
  uint64_t count_ = 0;
};

}  // namespace respite
