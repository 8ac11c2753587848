#include "server/lab/recording/replay_peer.h"

#include <utility>

namespace respite {

std::optional<ReplyTree> ReplayPeer::Answers::Next() {
  auto next = parser_.Next();
  if (next) ++count;
  return next;
}

// Parses bytes that the recorded server has sent, and finds the request of each reply. This must be done while parsing:
// replies and Pub/Sub messages are then stored separately, and their common order is lost.
void ReplayPeer::FeedRecordedReplies(Bytes bytes) {
  if (unanswered_.IsIncomparable()) return;
  recorded_.Feed(bytes);
  while (auto reply = recorded_.Next()) {
    if (unanswered_.IsPubSubMessage(*reply)) {
      unanswered_.Confirm(*reply);
      recorded_.messages.push_back(std::move(*reply));
    } else {
      answered_requests_.push_back(unanswered_.Take(*reply));
      recorded_.replies.push_back(std::move(*reply));
    }
  }
}

void ReplayPeer::HangUp() {
  link_.reset();
  has_ended_ = true;
}

bool ReplayPeer::HasPendingReplies() const {
  if (has_ended_) return false;
  if (!IsOpen() || expects_end_) return true;
  return !IsIncomparable() && replayed_.count < recorded_.count;
}

std::optional<ReplyTree> ReplayPeer::TakeFirst(std::deque<ReplyTree>& queue) {
  if (queue.empty()) return std::nullopt;
  ReplyTree first = std::move(queue.front());
  queue.pop_front();
  return first;
}

std::optional<ReplayPeer::Pair> ReplayPeer::Next(Moment moment) {
  const auto is_there = [moment](const std::deque<ReplyTree>& one, const std::deque<ReplyTree>& other) {
    return moment == Moment::kEnd ? !one.empty() || !other.empty() : !one.empty() && !other.empty();
  };
  if (is_there(recorded_.messages, replayed_.messages)) {
    return Pair{std::nullopt, TakeFirst(recorded_.messages), TakeFirst(replayed_.messages)};
  }
  if (!is_there(recorded_.replies, replayed_.replies)) return std::nullopt;
  Pair pair{std::nullopt, TakeFirst(recorded_.replies), TakeFirst(replayed_.replies)};
  if (!pair.recorded) {
    pair.request = unanswered_.Take(*pair.replayed);
  } else {
    pair.request = std::move(answered_requests_.front());
    answered_requests_.pop_front();
  }
  return pair;
}

void ReplayPeer::OnConnected() {
  was_open_ = true;
  on_event_();
}

void ReplayPeer::OnReceived(Bytes bytes) {
  if (!unanswered_.IsIncomparable()) replayed_.Feed(bytes);
  while (auto reply = replayed_.Next()) {
    (unanswered_.IsPubSubMessage(*reply) ? replayed_.messages : replayed_.replies).push_back(std::move(*reply));
  }
  on_event_();
}

void ReplayPeer::OnEnded(const std::string& reason) {
  has_ended_ = true;
  end_reason_ = reason;
  on_event_();
}

}  // namespace respite
