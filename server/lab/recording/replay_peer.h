// ReplayPeer: repeats one connection of a recording. Holds its recorded replies and its new replies.
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
  // `on_move` is called when data has arrived; it must not destroy the peer.
  ReplayPeer(uint64_t number, std::function<void()> on_move) : number_(number), on_move_(std::move(on_move)) {}

  void Dial(Network& network, const Link::Target& target) { link_ = network.Dial(target, *this); }
  // Requires: the link is open.
  void Send(Bytes bytes) { link_->Send(bytes); }
  void HangUp();

  // --- Recorded events.

  void Ask(Bytes bytes) { asked_.Feed(bytes); }
  void Expect(Bytes bytes);
  void ExpectEnd() { expects_end_ = true; }

  // --- State.

  bool IsOpen() const { return link_ != nullptr && link_->stage() == Link::Stage::kOpen && !has_ended_; }
  bool HasEnded() const { return has_ended_; }
  bool IsRefused() const { return has_ended_ && !was_open_ && !end_reason_.empty(); }
  // Returns true if the recording has no more events for this connection and it has ended.
  bool IsOver() const { return expects_end_ && has_ended_; }
  // Returns why the connection ended; empty if this side closed it.
  const std::string& end_reason() const { return end_reason_; }
  // Returns true if the connection is not open yet, or has not received all replies that the recording has up to now.
  bool IsOwed() const;
  // Returns true if the parsers cannot continue, so that the replies are no longer compared.
  bool IsForeign() const { return asked_.IsForeign() || recorded_.HasFailed() || replayed_.HasFailed(); }

  uint64_t number() const { return number_; }
  uint64_t requests() const { return asked_.count(); }

  // A recorded reply and a new one. One of them is nullopt if the other side has more replies at the end.
  struct Pair {
    std::optional<AskedRequest> request;  // nullopt for a message
    std::optional<ReplyTree> recorded;
    std::optional<ReplyTree> replayed;
  };
  enum class Moment : uint8_t { kUnderWay, kEnd };
  // Returns the next pair, or nullopt if there is none. At kUnderWay the other half may still arrive.
  std::optional<Pair> Next(Moment moment);

  // Link::User
  void OnConnected() override;
  void OnReceived(Bytes bytes) override;
  void OnEnded(const std::string& reason) override;

 private:
  // The replies and messages of the recording, or those of the new server.
  class Answers {
   public:
    // Feeds bytes from the server. Next then returns the next complete reply or message.
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
  std::deque<std::optional<AskedRequest>> askers_;  // requests of the recorded replies
  Answers replayed_;
  bool expects_end_ = false;
  bool was_open_ = false;
  bool has_ended_ = false;
  std::string end_reason_;
};

}  // namespace respite
