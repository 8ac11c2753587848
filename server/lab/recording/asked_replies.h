// AskedReplies: the requests of one connection, each of which is owed a reply: so a reply finds its request. It knows
// what changes the number of replies: subscriptions, which are confirmed by messages; CLIENT REPLY; and EXEC, whose
// reply has those of the queued requests.
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
  std::vector<std::vector<std::string>> queued = {};  // of EXEC
  bool is_confirmed_by_messages = false;
  size_t confirmations = 0;  // that have come
};

class AskedReplies {
 public:
  // Bytes that the client has sent.
  void Feed(Bytes bytes);
  // The request to which this reply belongs, in the order of replies. Nothing: no request asked for it.
  std::optional<AskedRequest> Take(const ReplyTree& reply);
  // A message has come, which may confirm the first of the requests that are owed something.
  void Confirm(const ReplyTree& message);
  // Whether it is a message that nobody asked for, or a confirmation of a subscription, rather than a reply.
  bool IsMessage(const ReplyTree& reply) const;

  uint64_t count() const { return count_; }
  // What follows belongs to another protocol: the client is a replica, or watches others.
  bool IsForeign() const { return is_foreign_; }
  // The client has moved a clock by TEST, or has been in a world, which has a clock of its own.
  bool HasOwnTime() const { return has_own_time_; }

 private:
  enum class Answers : uint8_t { kOn, kOff, kSkipNext };

  void Receive(std::vector<std::string> words);
  void NoteReplyMode(const std::string& mode);
  void Queue(std::vector<std::string> words);

  RequestParser parser_;
  RequestBatch batch_;
  std::deque<AskedRequest> owed_;
  std::optional<std::vector<std::vector<std::string>>> queue_;  // of the transaction that is open
  Answers answers_ = Answers::kOn;
  bool has_subscribed_ = false;
  bool is_foreign_ = false;
  bool has_own_time_ = false;
  uint64_t count_ = 0;
};

}  // namespace respite
