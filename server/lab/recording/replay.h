// Replay: sends what the clients of a recording sent to another server, and compares the replies.
//
// Causes keep their order: what a client sent after it, or another one, had got a reply is sent after that reply has
// come. So two clients that pass a lock to each other do it again, however fast the server is.
//
// Time passes in one of three ways: by the server's clock, which TEST CLOCK moves to where it was in the recording, so
// that keys expire and clients time out between the same requests, without waiting; as in the recording, or so many
// times as fast; or not at all, as fast as replies come.
//
// It does no I/O of its own: connections come from a Network, time from a Pace.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pace.h"
#include "server/lab/recording/recording.h"
#include "server/lab/recording/replay_peer.h"
#include "server/lab/recording/reply_judge.h"
#include "server/net/link.h"

namespace respite {

class Replay {
 public:
  enum class Time : uint8_t { kServersClock, kReal, kNone };
  struct Options {
    Link::Target target;
    Time time = Time::kNone;
    double speed = 1;                       // of kReal
    std::vector<std::string> ignored = {};  // names of commands, as patterns
  };
  struct Parts {
    Network& network;
    const Pace& pace;
    const CommandSet& commands;
    std::function<void(const std::string&)> say;  // a line for the user
    std::function<void()> on_move;                // GoOn has something to do
  };
  Replay(Parts parts, Recording recording, Options options);

  // Does what can be done now. Returns after how many milliseconds it is to be called again if nothing has moved
  // before; nothing: it is over.
  std::optional<int64_t> Continue();

  struct Outcome {
    uint64_t connections = 0;
    uint64_t requests = 0;
    uint64_t same = 0;
    uint64_t different = 0;
    uint64_t open = 0;     // need not be the same
    uint64_t foreign = 0;  // connections of which not all could be compared
    std::string failure;   // why it could not go on; empty: it went to its end
  };
  const Outcome& outcome() const { return outcome_; }

 private:
  using Kind = RecordedEvent::Kind;

  // Whether clients move clocks themselves.
  bool HasOwnTime() const;
  // Whether all that was received before this event has come again, and its time.
  bool IsReady(const RecordedEvent& event);
  bool IsOwed() const;
  bool FindUnreachable();
  void GiveUpWaiting();
  bool IsTime(const RecordedEvent& event);
  // Moves the server's clock there. False: it is not there yet.
  bool MoveClock(int64_t at_us);
  void ReachClock();
  void Perform(const RecordedEvent& event);
  void TellEnd(const ReplayPeer& peer);
  void Finish();
  // Its last event has happened, or the recording is over: counts it and forgets it.
  void Retire(uint64_t connection);
  void CompareAll();
  void Compare(ReplayPeer& peer, ReplayPeer::Moment moment);
  void Judge(const ReplayPeer& peer, const ReplayPeer::Pair& pair);
  void TellDifference(const ReplayPeer& peer, const ReplayPeer::Pair& pair);
  int64_t WaitedMs() const { return parts_.pace.NowMs() - waiting_since_ms_; }

  const Parts parts_;
  const Recording recording_;
  const Options options_;
  const Time time_;
  const ReplyJudge judge_;
  const int64_t began_ms_;  // of the Pace
  size_t next_ = 0;         // event
  std::map<uint64_t, std::unique_ptr<ReplayPeer>> peers_;
  std::unique_ptr<ReplayPeer> clock_;  // who says TEST CLOCK; null: nobody
  int clock_owes_ = 0;                 // replies
  int64_t clock_ms_ = 0;               // of the server, in Unix time; 0: it has not been told
  int64_t clock_to_ms_ = 0;            // what it was told last
  int64_t waiting_since_ms_;           // of the Pace: since the last event
  int64_t performed_at_us_ = 0;        // of the recording: the last event that sent something
  Outcome outcome_;
};

}  // namespace respite
