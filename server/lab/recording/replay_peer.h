// ReplayPeer: one connection of a recording, made again: what it was answered then, and what it is answered now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "protocol/reply_tree.h"
#include "server/lab/recording/asked_replies.h"
#include "server/net/link.h"

namespace respite {

class ReplayPeer final : public Link::User {
 public:
  // `on_move` is called when something has arrived; it must not destroy the peer.
  ReplayPeer(uint64_t number, std::function<void()> on_move) : number_(number), on_move_(std::move(on_move)) {}

  void Dial(Network& network, const Link::Target& target) { link_ = network.Dial(target, *this); }
  // Requires: the link is open.
  void Send(Bytes bytes) { link_->Send(bytes); }
  void HangUp();

  // --- What the recording has.

  void Ask(Bytes bytes) { asked_.Feed(bytes); }
  void Expect(Bytes bytes);
  void ExpectEnd() { expects_end_ = true; }

  // --- How far it is.

  bool IsOpen() const { return link_ != nullptr && link_->stage() == Link::Stage::kOpen && !has_ended_; }
  bool HasEnded() const { return has_ended_; }
  bool IsRefused() const { return has_ended_ && !was_open_ && !end_reason_.empty(); }
  // Nothing more of it is recorded, and it has ended.
  bool IsOver() const { return expects_end_ && has_ended_; }
  // Why; empty: this side hung up.
  const std::string& end_reason() const { return end_reason_; }
  // It is not there yet, or has not got all that it got in the recording up to here.
  bool IsOwed() const;
  // The parsers do not understand any further: its replies are not compared.
  bool IsForeign() const { return asked_.IsForeign() || recorded_.HasFailed() || replayed_.HasFailed(); }

  uint64_t number() const { return number_; }
  uint64_t requests() const { return asked_.count(); }

  // A reply of then and one of now. Either is nothing: at the end the other side has more.
  struct Pair {
    std::optional<AskedRequest> request;  // nothing: it is a message
    std::optional<ReplyTree> recorded;
    std::optional<ReplyTree> replayed;
  };
  enum class Moment : uint8_t { kUnderWay, kEnd };
  // The next pair. Nothing: there is none; at kUnderWay the other half may still come.
  std::optional<Pair> Next(Moment moment);

  // Link::User
  void OnConnected() override;
  void OnReceived(Bytes bytes) override;
  void OnEnded(const std::string& reason) override;

 private:
  // Replies and messages of one of the two.
  class Answers {
   public:
    // The next of those that are complete with these bytes.
    void Feed(Bytes bytes) { parser_.Feed(bytes); }
    std::optional<ReplyTree> Next();
    bool HasFailed() const { return parser_.Failed(); }

    std::deque<ReplyTree> replies;
    std::deque<ReplyTree> messages;
    uint64_t count = 0;

   private:
    ReplyTreeParser parser_;
  };

  static std::optional<ReplyTree> TakeFirst(std::deque<ReplyTree>& queue);

  const uint64_t number_;
  const std::function<void()> on_move_;
  std::unique_ptr<Link> link_;
  AskedReplies asked_;
  Answers recorded_;
  std::deque<std::optional<AskedRequest>> askers_;  // of the recorded replies
  Answers replayed_;
  bool expects_end_ = false;
  bool was_open_ = false;
  bool has_ended_ = false;
  std::string end_reason_;
};

}  // namespace respite
