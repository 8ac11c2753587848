// ClockControl: TEST CLOCK. Stops and moves the clock that the data and the clients of one server see.
//
// A jump forward happens in a separate turn of the event loop. The deadlines, timeouts and pauses that become due on
// the way are served one by one, each at its own time, as if the time had passed. PostJump requests a jump, and
// TakeJumpResult tells whether the jump has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/late_bound.h"
#include "base/movable_clock.h"
#include "server/dataset/exact_expiry.h"
#include "server/runtime/env.h"
#include "server/runtime/host.h"
#include "server/runtime/timers.h"

namespace respite {

class Clients;
class Executor;

struct ClockMove {  // the arguments of TEST CLOCK or TEST CLUSTER CLOCK
  // The subcommand. kNext: jumps to the next due event. kReal: shows the machine's time again.
  enum class Kind : uint8_t { kFreeze, kAdvance, kSet, kNext, kRate, kAuto, kReal } kind;
  std::optional<int64_t> ms = {};  // kFreeze, kSet: Unix time; kAdvance: a duration
  double rate = 1;                 // kRate: seconds of the clock per second of real time
  bool is_auto_jump = false;       // for kAuto: whether AUTO is turned on
};

class TimeKeeper {  // interface: lets time pass, and runs the timers and deadlines that become due
 public:
  virtual ~TimeKeeper() = default;
  // Moves the clock forward by `elapsed_ms`, in steps from one event (timeout, deadline) to the next. Serves each event
  // when the clock shows its time. For each step, calls `advance`, which moves the clock by a number of ms. Requires:
  // no command runs.
  virtual void PassTime(int64_t elapsed_ms,  // moves the clock forward, and serves the events that become due
                        const std::function<void(int64_t)>& advance) = 0;
  enum class Motion : uint8_t { kRuns, kStands };  // whether the clock runs or is frozen
  virtual void OnClockSet(Motion motion) = 0;      // the clock was set, or has another speed; not for PassTime
};

class ClockControl {  // TEST CLOCK: stops and moves the clock that data and clients of one server see
 public:
  // With this limit, stream IDs, dates in INFO and sums of times cannot overflow.
  static constexpr int64_t kMaxWallMs = 253'402'300'799'999;  // latest Unix time of the clock: the end of the year 9999
  // The latest monotonic time after a jump. It needs a limit of its own, because the wall time can be set back and
  // advanced again.
  static constexpr int64_t kMaxMonotonicMs = 4'000'000'000'000'000;  // latest monotonic time after a jump

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    MovableClock* clock;           // the clock to move; null: none (test-commands no)
    const ExactExpiry& deadlines;  // finds the next key or field that expires
    Clients& clients;              // all sessions
    Executor& executor;            // runs requests, and caches the time
    TimeKeeper& keeper;            // moves the clock and runs what becomes due
  };
  explicit ClockControl(const Parts& parts) : parts_(parts) {}

  // Returns false if this server has no clock that can be moved. Then only this function and EndTurn, which does
  // nothing, may be called.
  bool HasMovableClock() const { return parts_.clock != nullptr; }  // whether the clock can be moved

  struct Due {         // an event that will happen at some time
    int64_t wall_ms;   // when the event is due (Unix time)
    int64_t in_ms;     // ms until the event; in the result of a jump: from the time before the jump
    std::string what;  // text about the event: "BLPOP of client 5 times out"
  };
  // Returns the next event that will become due, even if its time is beyond the clock's limits (see
  // NextReachableEvent). Cost: O(n) for n keys and fields with deadlines.
  std::optional<Due> Next() const;  // the next event that will become due; nullopt: none

  const MovableClock& clock() const { return *parts_.clock; }  // the clock that data and clients see
  bool is_auto_jump() const { return is_auto_jump_; }          // the setting of TEST CLOCK AUTO

  void Freeze();  // stops the clock, and rounds it to whole milliseconds
  // Requires: MovableClock::kMinRate <= rate <= kMaxRate.
  void RunAt(double rate);                // lets the clock run `rate` times as fast as real time
  void FollowMachine();                   // makes the clock show the machine's time again, and turns AUTO off
  void SetWallTimeBack(int64_t wall_ms);  // sets the clock to an earlier Unix time; nothing becomes due
  // Turns TEST CLOCK AUTO on or off. While AUTO is on, the clock jumps to the next due event whenever there are clients
  // and all of them wait, for example for messages or keys.
  void SetAutoJump(bool is_on) { is_auto_jump_ = is_on; }  // NOLINT: turns TEST CLOCK AUTO on or off

  struct State {              // the state of the clock that a snapshot stores
    MovableClock::Mode mode;  // frozen, real or scaled
    double rate;              // seconds of the clock per second of real time
    int64_t wall_us;          // Unix time that the clock shows
    int64_t offset_us;        // how many µs the clock is ahead of the machine's clock
    bool is_auto_jump;        // true: jumps while all clients wait (TEST CLOCK AUTO)
  };
  State Save() const;                // the state, for a snapshot
  void Restore(const State& state);  // restores a snapshot's clock; events in between do not happen

  // --- Jumps forward.

  // PostJump, PostJumpTo and PostJumpToNextEvent request a jump in the next turn of the event loop, for the client with
  // ID `client`. A jump that would exceed the clock's limits is not made. Requires: there is a host (which runs the
  // event loop).
  void PostJump(uint64_t client, int64_t elapsed_ms);  // jumps forward by this duration, in the next loop iteration
  void PostJumpTo(uint64_t client, int64_t wall_ms);  // jumps (or goes back) to a Unix time, in the next loop iteration
  void PostJumpToNextEvent(uint64_t client);          // jumps to the next due event, if any, in the next loop iteration
  struct JumpResult {                                 // how a jump of the clock has ended
    bool is_too_far = false;                          // the clock did not jump, because its limits would be exceeded
    std::optional<Due> reached_event = {};            // the event that PostJumpToNextEvent jumped to
  };
  bool MayJump(int64_t elapsed_ms) const;  // true: the jump keeps within kMaxWallMs and kMaxMonotonicMs
  // JumpNow and JumpNowTo jump immediately. Requires: no command runs, and the caller runs in a turn of the event loop
  // of this server.
  JumpResult JumpNow(int64_t elapsed_ms);     // advances the clock by this duration, serving all events on the way
  JumpResult JumpNowTo(int64_t wall_ms);      // advances the clock to this Unix time, or sets it back
  bool IsJumpPosted(uint64_t client) const {  // true: from PostJump… until TakeJumpResult of this client
    return posted_jumps_.contains(client);
  }
  // Returns the result of the client's jump, once. Returns nullopt while the jump has not ended. Requires:
  // IsJumpPosted.
  std::optional<JumpResult> TakeJumpResult(uint64_t client);  // takes the result of a jump; nullopt: not ended yet

  void EndTurn();  // if AUTO is on and all clients wait, requests a jump to the next due event

 private:
  struct PostedJump {        // a jump that a client has requested
    bool has_ended = false;  // the jump has ended, so that TakeJumpResult returns `result`
    JumpResult result = {};  // result of the jump, valid when it has ended
  };

  // Moves the clock forward by `elapsed_ms`, and stops at each event that becomes due, to serve it. Requires:
  // MayJump(elapsed_ms).
  void Pass(int64_t elapsed_ms);
  std::optional<Due> NextReachableEvent() const;  // the next due event; nullopt: none within the limits
  std::optional<Due> JumpToNextEvent();           // jumps to the next due event; returns it; nullopt: none
  void Post(uint64_t client, std::function<JumpResult()> jump);
  bool EveryClientWaits() const;  // each client (at least one) is blocked, subscribed, held by a fault, closing …
  void NotifyClockSet();  // tells the executor and the TimeKeeper that the clock was set; jumps forward use Pass

  const Parts parts_;                            // other parts of the server that this class uses
  bool is_auto_jump_ = false;                    // the setting of TEST CLOCK AUTO
  bool is_jumping_ = false;                      // the clock is jumping, and events are being served
  bool has_posted_auto_jump_ = false;            // a jump of TEST CLOCK AUTO waits for the next loop iteration
  std::map<uint64_t, PostedJump> posted_jumps_;  // by client ID, from PostJump… until TakeJumpResult
};

}  // namespace respite
