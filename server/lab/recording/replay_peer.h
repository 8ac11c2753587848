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

class ReplayPeer final : public Link::User {  // repeats one connection of a recording
 public:
  // `on_move` is called when data has arrived; it must not destroy the peer.
  ReplayPeer(uint64_t number, std::function<void()> on_move) : number_(number), on_move_(std::move(on_move)) {}

  void Connect(Network& network, const Link::Target& target) { link_ = network.Connect(target, *this); }
  // Requires: the link is open.
  void Send(Bytes bytes) { link_->Send(bytes); }
  void HangUp();  // closes the connection

  // --- Recorded events.

  void Ask(Bytes bytes) { asked_.Feed(bytes); }
  void Expect(Bytes bytes);                  // adds bytes that the recorded server has sent
  void ExpectEnd() { expects_end_ = true; }  // the recording has no more events for this connection

  // --- State.

  bool IsOpen() const { return link_ != nullptr && link_->stage() == Link::Stage::kOpen && !has_ended_; }
  bool HasEnded() const { return has_ended_; }                                         // it was closed by either side
  bool IsRefused() const { return has_ended_ && !was_open_ && !end_reason_.empty(); }  // it could not be opened
  bool IsOver() const { return expects_end_ && has_ended_; }     // has ended here and in the recording
  const std::string& end_reason() const { return end_reason_; }  // why it ended; empty if this side closed it
  bool HasPendingReplies() const;  // not open yet, or some replies of the recording have not arrived
  // Returns true if the parsers cannot continue, so that the replies are no longer compared.
  bool IsIncomparable() const { return asked_.IsIncomparable() || recorded_.HasFailed() || replayed_.HasFailed(); }

  uint64_t number() const { return number_; }           // of the connection in the recording
  uint64_t requests() const { return asked_.count(); }  // that it has sent

  // A recorded reply and a new one. One of them is nullopt if the other side has more replies at the end.
  struct Pair {
    std::optional<AskedRequest> request;  // nullopt for a message
    std::optional<ReplyTree> recorded;    // from the recorded server
    std::optional<ReplyTree> replayed;    // from the new server
  };
  enum class Moment : uint8_t { kUnderWay, kEnd };  // kEnd: no more replies will arrive
  // Returns the next pair, or nullopt if there is none. At kUnderWay the other half may still arrive.
  std::optional<Pair> Next(Moment moment);

  // Link::User
  void OnConnected() override;
  void OnReceived(Bytes bytes) override;             // adds bytes that the new server has sent
  void OnEnded(const std::string& reason) override;  // the connection has ended

 private:
  class Answers {  // replies and messages of the recording, or of the new server
   public:
    // Feeds bytes from the server. Next then returns the next complete reply or message.
    void Feed(Bytes bytes) { parser_.Feed(bytes); }
    std::optional<ReplyTree> Next();
    bool HasFailed() const { return parser_.Failed(); }  // the bytes are no RESP

    std::deque<ReplyTree> replies;   // not compared yet
    std::deque<ReplyTree> messages;  // not compared yet
    uint64_t count = 0;              // replies and messages so far

   private:
    ReplyTreeParser parser_;  // of the server's bytes
  };

  static std::optional<ReplyTree> TakeFirst(std::deque<ReplyTree>& queue);  // nullopt if it is empty

  const uint64_t number_;
  const std::function<void()> on_move_;  // called when data has arrived
  std::unique_ptr<Link> link_;
  AskedReplies asked_;                              // requests that await a reply
  Answers recorded_;                                // from the recorded server
  std::deque<std::optional<AskedRequest>> askers_;  // requests of the recorded replies
  Answers replayed_;                                // from the new server
  bool expects_end_ = false;                        // the recording has no more events for this connection
  bool was_open_ = false;                           // the connection was established
  bool has_ended_ = false;                          // it was closed by either side
  std::string end_reason_;                          // empty if this side closed it
};

}  // namespace respite
