// ReplayPeer: repeats one connection of a recording. Holds the recorded replies and the new replies.
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
  // Sends bytes to the server. Requires: the link is open.
  void Send(Bytes bytes) { link_->Send(bytes); }
  void HangUp();  // closes the connection

  // --- Recorded events.

  void Ask(Bytes bytes) { asked_.Feed(bytes); }
  void Expect(Bytes bytes);                  // adds bytes that the recorded server has sent
  void ExpectEnd() { expects_end_ = true; }  // notes that the recorded connection ended here

  // --- State.

  bool IsOpen() const { return link_ != nullptr && link_->stage() == Link::Stage::kOpen && !has_ended_; }
  bool HasEnded() const { return has_ended_; }  // either side has closed the connection
  bool IsRefused() const { return has_ended_ && !was_open_ && !end_reason_.empty(); }  // the server has refused it
  bool IsOver() const { return expects_end_ && has_ended_; }     // it has ended, also in the recording
  const std::string& end_reason() const { return end_reason_; }  // why the link ended; empty if this side closed it
  bool HasPendingReplies() const;  // the connection is not open yet, or recorded replies have not arrived
  // Returns true if the replies can no longer be compared, because they are not of RESP.
  bool IsIncomparable() const { return asked_.IsIncomparable() || recorded_.HasFailed() || replayed_.HasFailed(); }

  uint64_t number() const { return number_; }           // number of the connection in the recording
  uint64_t requests() const { return asked_.count(); }  // number of requests that it has sent

  // A recorded reply and a new reply. At the end, one of the two is nullopt if the other server sent more replies.
  struct Pair {                           // two replies to compare
    std::optional<AskedRequest> request;  // the request of the replies; nullopt for a message
    std::optional<ReplyTree> recorded;    // from the recorded server
    std::optional<ReplyTree> replayed;    // from the new server
  };
  enum class Moment : uint8_t { kUnderWay, kEnd };  // kEnd: no more replies will arrive
  // Returns the next pair of replies, or nullopt. At kUnderWay, a reply stays until its counterpart arrives.
  std::optional<Pair> Next(Moment moment);

  // Link::User
  void OnConnected() override;
  void OnReceived(Bytes bytes) override;             // adds bytes that the new server has sent
  void OnEnded(const std::string& reason) override;  // the connection has ended

 private:
  class Answers {  // the replies and messages that one of the two servers has sent
   public:
    // Feeds bytes from the server. Next then returns the next complete reply or message.
    void Feed(Bytes bytes) { parser_.Feed(bytes); }
    std::optional<ReplyTree> Next();
    bool HasFailed() const { return parser_.Failed(); }  // the bytes are not RESP

    std::deque<ReplyTree> replies;   // replies that are not compared yet
    std::deque<ReplyTree> messages;  // messages that are not compared yet
    uint64_t count = 0;              // number of replies and messages so far

   private:
    ReplyTreeParser parser_;  // parses the server's bytes
  };

  static std::optional<ReplyTree> TakeFirst(std::deque<ReplyTree>& queue);  // nullopt: the queue is empty

  const uint64_t number_;
  const std::function<void()> on_move_;  // called when data has arrived
  std::unique_ptr<Link> link_;
  AskedReplies asked_;                              // requests that await a reply
  Answers recorded_;                                // replies of the recorded server
  std::deque<std::optional<AskedRequest>> askers_;  // requests of the recorded replies, in the same order
  Answers replayed_;                                // replies of the new server
  bool expects_end_ = false;                        // the recording has no more events for this connection
  bool was_open_ = false;                           // the connection was established
  bool has_ended_ = false;                          // either side has closed the connection
  std::string end_reason_;                          // why the connection ended; empty if this side closed it
};

}  // namespace respite
