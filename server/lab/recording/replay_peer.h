// ReplayPeer: a connection that repeats one connection of a recording. Stores the recorded replies and those of the new
// server until they are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "protocol/reply_tree.h"
#include "server/lab/recording/unanswered_requests.h"
#include "server/net/link.h"

namespace respite {

class ReplayPeer final : public Link::User {  // repeats one connection of a recording with the new server
 public:
  // `on_event` is called when the connection changes or data has arrived. `on_event` must not destroy this object.
  ReplayPeer(uint64_t number, std::function<void()> on_event) : number_(number), on_event_(std::move(on_event)) {}

  void Connect(Network& network, const Link::Target& target) {  // begins to connect to the new server
    link_ = network.Connect(target, *this);
  }
  // Sends bytes to the server. Requires: the link is open.
  void Send(Bytes bytes) { link_->Send(bytes); }
  void HangUp();  // closes the connection from this side

  // --- Recorded events.

  void Ask(Bytes bytes) { unanswered_.Feed(bytes); }
  void FeedRecordedReplies(Bytes bytes);     // takes bytes of the recorded server, to compare its replies later
  void ExpectEnd() { expects_end_ = true; }  // the recorded server closed the connection here; so must the new one

  // --- State.

  bool IsOpen() const { return link_ != nullptr && link_->stage() == Link::Stage::kOpen && !has_ended_; }  // true: open
  bool HasEnded() const { return has_ended_; }  // true: either side has closed the connection, or connecting failed
  bool IsRefused() const { return has_ended_ && !was_open_ && !end_reason_.empty(); }  // true: connecting failed
  bool IsOver() const { return expects_end_ && has_ended_; }  // true: this connection and the recorded one have ended
  const std::string& end_reason() const { return end_reason_; }  // why the link ended; empty: open, or closed here
  bool HasPendingReplies() const;  // true: not open yet, or still awaits a recorded reply or end
  // Returns true if replies cannot be compared from now on: after SYNC, PSYNC or MONITOR, or if the bytes of one of the
  // servers are not RESP.
  bool IsIncomparable() const {  // true: replies cannot be compared from now on
    return unanswered_.IsIncomparable() || recorded_.HasFailed() || replayed_.HasFailed();
  }

  uint64_t number() const { return number_; }                // number of the connection in the recording
  uint64_t requests() const { return unanswered_.count(); }  // number of requests read so far, whether sent or not

  // The replies of both servers to one request, to compare. If only one server has sent a further reply, the other
  // reply is nullopt. This happens only at the end (Moment::kEnd).
  struct Pair {                           // the replies of both servers to one request, to compare
    std::optional<AskedRequest> request;  // the request that got these replies; nullopt: a message, or unknown
    std::optional<ReplyTree> recorded;    // reply of the recorded server; nullopt: none
    std::optional<ReplyTree> replayed;    // reply of the new server; nullopt: none
  };
  enum class Moment : uint8_t { kUnderWay, kEnd };  // kEnd: no more replies will arrive
  // Takes the next pair: the replies of the recorded and of the new server to one request. Returns nullopt if there is
  // none. With kUnderWay, a pair is complete only when both replies have arrived. With kEnd, one reply of the pair may
  // be missing.
  std::optional<Pair> Next(Moment moment);  // takes the next pair of replies; nullopt: none

  // The interface Link::User.
  void OnConnected() override;                       // called when the connection is established
  void OnReceived(Bytes bytes) override;             // called with bytes that the new server has sent; parses them
  void OnEnded(const std::string& reason) override;  // called when the connection has ended, or failed

 private:
  class Answers {  // the replies and messages that one of the two servers has sent
   public:
    // Parses bytes that the server has sent. Afterwards, Next returns the complete replies and messages, one at a time.
    void Feed(Bytes bytes) { parser_.Feed(bytes); }
    std::optional<ReplyTree> Next();
    bool HasFailed() const { return parser_.Failed(); }  // true: the bytes are not RESP

    std::deque<ReplyTree> replies;   // replies that are not compared yet
    std::deque<ReplyTree> messages;  // messages that are not compared yet
    uint64_t count = 0;              // number of replies and messages so far

   private:
    ReplyTreeParser parser_;  // parses the server's bytes
  };

  static std::optional<ReplyTree> TakeFirst(std::deque<ReplyTree>& queue);  // takes the first reply; nullopt: none

  const uint64_t number_;                 // number of the connection in the recording
  const std::function<void()> on_event_;  // called when the connection changes or data has arrived
  std::unique_ptr<Link> link_;
  UnansweredRequests unanswered_;  // recorded requests that still await their reply
  Answers recorded_;               // replies and messages of the recorded server
  // Nullopt: the request is unknown.
  std::deque<std::optional<AskedRequest>> answered_requests_;  // the request of each reply in recorded_
  Answers replayed_;                                           // replies and messages of the new server
  bool expects_end_ = false;  // true: the recorded server closed the connection; so must the new one
  bool was_open_ = false;     // true: the connection was established
  bool has_ended_ = false;    // true: either side has closed the connection, or connecting failed
  std::string end_reason_;    // why the connection ended; empty if it is open or this side closed it
};

}  // namespace respite
