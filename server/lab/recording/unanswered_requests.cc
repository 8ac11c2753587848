#include "server/lab/recording/unanswered_requests.h"

#include <algorithm>
#include <array>
#include <utility>

namespace respite {

namespace {

constexpr size_t kScratch = size_t{16} * 1024;
constexpr std::array<Bytes, 6> kSubscriptions = {"subscribe",   "psubscribe",   "ssubscribe",
                                                 "unsubscribe", "punsubscribe", "sunsubscribe"};
constexpr std::array<Bytes, 3> kMessages = {"message", "pmessage", "smessage"};
constexpr std::array<Bytes, 3> kOtherProtocols = {"sync", "psync", "monitor"};

constexpr std::array<Bytes, 4> kOwnTimes = {"clock", "reset", "snapshot", "world"};  // TEST subcommands
constexpr Bytes kWorldUser = "world.";

template <size_t kCount>
bool Has(const std::array<Bytes, kCount>& names, Bytes name) {
  return std::ranges::any_of(names, [name](Bytes one) { return EqualsIgnoreCase(one, name); });
}

bool MayMoveClock(const std::vector<std::string>& words) {
  const std::string& name = words[0];
  if (EqualsIgnoreCase(name, "test")) return words.size() > 1 && Has(kOwnTimes, words[1]);
  if (!EqualsIgnoreCase(name, "auth") && !EqualsIgnoreCase(name, "hello")) return false;
  return std::ranges::any_of(words, [](const std::string& word) { return word.starts_with(kWorldUser); });
}

// Returns how many messages confirm a SUBSCRIBE or UNSUBSCRIBE: one for each channel. An UNSUBSCRIBE without channels
// is confirmed by one message for each subscription; their number is not known here, so returns 1.
size_t ConfirmationsOf(const AskedRequest& request) { return std::max<size_t>(1, request.words.size() - 1); }

}  // namespace

void UnansweredRequests::Feed(Bytes bytes) {
  std::array<char, kScratch> scratch;
  while (!bytes.empty() && !has_other_protocol_) {
    const std::span<char> target = parser_.ReadTarget(scratch);
    const size_t size = std::min(target.size(), bytes.size());
    std::copy_n(bytes.begin(), size, target.begin());
    bytes.remove_prefix(size);
    parser_.Received(size);
    while (parser_.ParseInto(batch_, {}) == RequestParser::Status::kRequest) {
      const auto words = batch_.Words(batch_.requests.back());
      Receive({words.begin(), words.end()});
    }
    batch_.Clear();
    parser_.SaveRest();
  }
}

void UnansweredRequests::Receive(std::vector<std::string> words) {
  if (words.empty()) return;
  ++count_;
  const std::string& name = words[0];
  const bool sets_mode = words.size() == 3 && EqualsIgnoreCase(name, "client") && EqualsIgnoreCase(words[1], "reply");
  if (sets_mode) NoteReplyMode(words[2]);
  has_other_protocol_ = has_other_protocol_ || Has(kOtherProtocols, name);
  may_have_moved_clock_ = may_have_moved_clock_ || MayMoveClock(words);
  if (EqualsIgnoreCase(name, "reset")) {
    queue_.reset();
    has_subscribed_ = false;
    reply_mode_ = ReplyMode::kOn;
  }
  if (reply_mode_ == ReplyMode::kOff) return;
  if (reply_mode_ == ReplyMode::kSkipNext) {
    if (!sets_mode) reply_mode_ = ReplyMode::kOn;
    return;
  }
  if (Has(kSubscriptions, name)) has_subscribed_ = true;
  if (Has(kSubscriptions, name) && !queue_) {
    return owed_.push_back({.words = std::move(words), .is_confirmed_by_messages = true});
  }
  AddOwed(std::move(words));
}

// Applies a CLIENT REPLY request. Must be called before the caller decides whether this request itself gets a reply:
// with ON it does, with OFF and SKIP it does not.
void UnansweredRequests::NoteReplyMode(const std::string& mode) {
  if (EqualsIgnoreCase(mode, "on")) reply_mode_ = ReplyMode::kOn;
  if (EqualsIgnoreCase(mode, "off")) reply_mode_ = ReplyMode::kOff;
  if (EqualsIgnoreCase(mode, "skip") && reply_mode_ == ReplyMode::kOn) reply_mode_ = ReplyMode::kSkipNext;
}

void UnansweredRequests::AddOwed(std::vector<std::string> words) {
  AskedRequest request{.words = std::move(words)};
  const std::string& name = request.words[0];
  if (EqualsIgnoreCase(name, "multi")) {
    queue_.emplace();
  } else if (EqualsIgnoreCase(name, "exec") && queue_) {
    request.queued = std::move(*queue_);
    queue_.reset();
  } else if (EqualsIgnoreCase(name, "discard")) {
    queue_.reset();
  } else if (queue_ && !EqualsIgnoreCase(name, "watch")) {
    queue_->push_back(request.words);
  }
  owed_.push_back(std::move(request));
}

std::optional<AskedRequest> UnansweredRequests::Take(const ReplyTree& reply) {
  const auto is_over = [&](const AskedRequest& request) {
    return request.is_confirmed_by_messages && (request.received_confirmations > 0 || !reply.IsError());
  };
  while (!owed_.empty() && is_over(owed_.front())) owed_.pop_front();
  if (owed_.empty()) return std::nullopt;
  AskedRequest request = std::move(owed_.front());
  owed_.pop_front();
  return request;
}

void UnansweredRequests::Confirm(const ReplyTree& message) {
  if (message.children.empty() || !Has(kSubscriptions, message.children[0].text)) return;
  if (owed_.empty() || !owed_.front().is_confirmed_by_messages) return;
  const bool is_next = owed_.size() > 1 && owed_[1].is_confirmed_by_messages;
  if (is_next && owed_.front().received_confirmations >= ConfirmationsOf(owed_.front())) owed_.pop_front();
  ++owed_.front().received_confirmations;
}

bool UnansweredRequests::IsPubSubMessage(const ReplyTree& reply) const {
  if (reply.kind == ReplyKind::kPush) return true;
  if (!has_subscribed_ || reply.kind != ReplyKind::kArray || reply.children.size() < 3) return false;
  const std::string& first = reply.children[0].text;
  return Has(kMessages, first) || Has(kSubscriptions, first);
}

}  // namespace respite
