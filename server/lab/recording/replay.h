// Replay: sends the requests of a recording to another server, and compares the replies.
//
// The causal order is kept. A request that was sent after any client had received a reply is sent after that reply has
// arrived. So two clients that pass a lock to each other do it again, however fast the server is.
//
// Time passes in one of three ways. kServersClock: TEST CLOCK moves the server's clock to the recorded time, so that
// keys expire and clients time out between the same requests, without waiting. kReal: as in the recording, or `speed`
// times as fast. kNone: as fast as replies arrive.
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
    double speed = 1;                       // for kReal
    std::vector<std::string> ignored = {};  // patterns for command names
  };
  struct Parts {
    Network& network;
    const Pace& pace;
    const CommandSet& commands;
    std::function<void(const std::string&)> say;  // shows a line to the user
    std::function<void()> on_move;                // called when Continue has something to do
  };
  Replay(Parts parts, Recording recording, Options options);

  // Does all steps that are possible now. Returns the number of milliseconds after which to call it again if on_move is
  // not called before. Returns nullopt if the replay has ended.
  std::optional<int64_t> Continue();

  struct Outcome {
    uint64_t connections = 0;
    uint64_t requests = 0;
    uint64_t same = 0;
    uint64_t different = 0;
    uint64_t open = 0;     // replies that may differ
    uint64_t foreign = 0;  // connections that could not be compared completely
    std::string failure;   // why it stopped early; empty if it is complete
  };
  const Outcome& outcome() const { return outcome_; }

 private:
  using Kind = RecordedEvent::Kind;

  // Returns whether clients of the recording move clocks themselves.
  bool HasOwnTime() const;
  // Returns whether all replies recorded before this event have arrived and the time of the event has come.
  bool IsReady(const RecordedEvent& event);
  bool IsOwed() const;
  bool FindUnreachable();
  void GiveUpWaiting();
  bool IsTime(const RecordedEvent& event);
  // Moves the server's clock to this time. Returns false until it is there.
  bool MoveClock(int64_t at_us);
  void ReachClock();
  void Perform(const RecordedEvent& event);
  void TellEnd(const ReplayPeer& peer);
  void Finish();
  // Counts and removes a connection after its last event, or at the end of the recording.
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
  const int64_t began_ms_;  // Pace time
  size_t next_ = 0;         // index of the next event
  std::map<uint64_t, std::unique_ptr<ReplayPeer>> peers_;
  std::unique_ptr<ReplayPeer> clock_;  // connection for TEST CLOCK; null if unused
  int clock_owes_ = 0;                 // replies that clock_ still awaits
  int64_t clock_ms_ = 0;               // Unix time of the server; 0 before its first reply
  int64_t clock_to_ms_ = 0;            // latest requested time
  int64_t waiting_since_ms_;           // Pace time of the last event
  int64_t performed_at_us_ = 0;        // recorded time of the last event that sent bytes
  Outcome outcome_;
};

}  // namespace respite
