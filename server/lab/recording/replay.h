// Replay: sends the requests of a recording to another server, and compares the replies.
//
// Keeps the order of causes and effects. Before the replay sends a request, all replies that precede the request in the
// recording must have arrived. So two clients that pass a lock to each other do so again, however fast the server is.
//
// Time passes in one of three ways. kServersClock: TEST CLOCK moves the server's clock to the recorded time. So keys
// expire and clients time out between the same requests as in the recording, without waiting. kReal: requests are sent
// at the recorded times, or `speed` times as fast. kNone: requests are sent as soon as replies arrive. If a recorded
// client moves the clock itself or uses a world (an isolated server), kReal is used instead of kServersClock.
//
// The class itself does no I/O: a Network makes the connections, and a RealClock tells the time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/real_clock.h"
#include "server/lab/recording/recording.h"
#include "server/lab/recording/replay_peer.h"
#include "server/lab/recording/reply_judge.h"
#include "server/net/link.h"

namespace respite {

class Replay {  // sends the requests of a recording to another server, and compares the replies
 public:
  enum class Time : uint8_t { kServersClock, kReal, kNone };  // kServersClock: TEST CLOCK; kNone: as fast as possible
  struct Options {                                            // how to replay a recording
    Link::Target target;                                      // address of the server
    Time time = Time::kNone;
    double speed = 1;                       // how many times as fast as recorded, for kReal
    std::vector<std::string> ignored = {};  // patterns for names of commands whose replies may differ
  };
  struct Parts {                                  // other objects that the replay uses
    Network& network;                             // makes the connections to the server
    const RealClock& real_clock;                  // real time, for the pace of the replay
    const CommandSet& commands;                   // commands that the comparison of replies knows
    std::function<void(const std::string&)> say;  // shows a line to the user
    std::function<void()> on_event;               // called when Continue may have something to do
  };
  Replay(Parts parts, Recording recording, Options options);

  std::optional<int64_t> Continue();  // replays what is due; returns ms until the next call; nullopt: ended

  struct Outcome {              // counts, and an error, that the user is told at the end
    uint64_t connections = 0;   // number of recorded connections that were opened again
    uint64_t requests = 0;      // number of recorded requests on these connections, whether sent or not
    uint64_t same = 0;          // number of equal replies
    uint64_t different = 0;     // replies that differ or are missing; connections that ended early or were given up
    uint64_t unjudged = 0;      // replies that differ, but need not be equal: ignored commands, or contents that vary
    uint64_t incomparable = 0;  // number of connections not compared completely: SYNC, PSYNC, MONITOR, or not RESP
    std::string failure;        // why the replay stopped early; empty if it is complete
  };
  const Outcome& outcome() const { return outcome_; }  // counts of requests and replies so far

 private:
  using Kind = RecordedEvent::Kind;

  bool ClientsMoveClock() const;              // true: a recorded client may move the server's clock, or uses a world
  bool TryReach(const RecordedEvent& event);  // true: `event` is due; may move the clock, or give up missing replies
  bool HasPendingReplies() const;             // true: a connection is not open yet, or awaits a reply or its end
  bool EndIfUnreachable();                    // if the server cannot be reached, ends the replay and returns true
  void GiveUpWaiting();                       // reports and closes the connections whose replies are missing
  bool ReachRecordedTimeOf(const RecordedEvent& event);  // true: `event` is due; may set the server's clock to its time
  bool MoveClock(int64_t at_us);  // sets the server's clock; false: not yet (call again), or outcome_.failure is set
  void ConnectClock();            // opens the connection that sends TEST CLOCK
  void Perform(const RecordedEvent& event);     // connects, sends, registers an expected reply or end, or hangs up
  void ReportEarlyEnd(const ReplayPeer& peer);  // reports a connection that the server ended too early
  void Finish();                                // ends the replay: compares, counts and removes all connections
  void CompareAndRemove(uint64_t connection);   // compares the last replies, counts and removes the connection
  void CompareArrived();                        // compares the replies that have arrived
  void Compare(ReplayPeer& peer, ReplayPeer::Moment moment);  // compares one connection's replies that have arrived
  void Judge(const ReplayPeer& peer, const ReplayPeer::Pair& pair);  // counts a pair of replies, reports a difference
  void ReportDifference(const ReplayPeer& peer, const ReplayPeer::Pair& pair);  // shows both replies to the user
  int64_t MsSinceProgress() const {  // ms (real time) since an event was performed, or replies were given up
    return parts_.real_clock.NowMs() - progress_at_ms_;
  }

  const Parts parts_;          // other objects that the replay uses
  const Recording recording_;  // the recording that is repeated
  const Options options_;      // how to replay
  const Time time_;
  const ReplyJudge judge_;                                 // compares replies
  const int64_t began_ms_;                                 // when the replay began (real time)
  size_t next_ = 0;                                        // index of the next event of the recording
  std::map<uint64_t, std::unique_ptr<ReplayPeer>> peers_;  // connections by their number in the recording
  std::unique_ptr<ReplayPeer> clock_connection_;           // connection that sends TEST CLOCK; null if unused
  int pending_clock_replies_ = 0;                          // number of replies that clock_connection_ still awaits
  int64_t clock_ms_ = 0;                                   // Unix time to which the server's clock was set; 0: not yet
  int64_t clock_to_ms_ = 0;                                // Unix time in the latest TEST CLOCK request
  int64_t progress_at_ms_;       // when an event was last performed, or missing replies were given up (real time)
  int64_t performed_at_us_ = 0;  // recorded time of the latest request or connection (µs since the start)
  Outcome outcome_;              // counts of requests and replies so far
};

}  // namespace respite
