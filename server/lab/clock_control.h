// ClockControl: TEST CLOCK. Stops and moves the clock that data and clients of one server see.
//
// A jump forward takes a Turn of its own, because deadlines, waits and pauses on the way are served at their own time,
// as if it had passed: Depart asks for it, and Arrival tells when it is over.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/late_bound.h"
#include "base/movable_clock.h"
#include "server/dataset/exact_expiry.h"
#include "server/lab/time_keeper.h"
#include "server/runtime/host.h"
#include "server/runtime/timers.h"

namespace respite {

class Clients;
class Executor;

class ClockControl {
 public:
  // The end of the year 9999: stream IDs, dates in INFO and sums of deadlines stay far from their limits.
  static constexpr int64_t kLatestWallMs = 253'402'300'799'999;
  // Wall time may be set back and go on again and again; all the time that has passed is limited, too.
  static constexpr int64_t kLatestMonotonicMs = 4'000'000'000'000'000;

  struct Parts {
    MovableClock* clock;  // null: this server has none (test-commands no)
    const Timers& timers;
    const ExactExpiry& deadlines;
    const LateBound<Host>& host;
    Clients& clients;
    Executor& executor;
    TimeKeeper& keeper;
  };
  explicit ClockControl(const Parts& parts) : parts_(parts) {}

  // The rest requires this.
  bool Exists() const { return parts_.clock != nullptr; }

  struct Due {
    int64_t wall_ms;
    int64_t in_ms;     // from now on, or from the time before a jump to it
    std::string what;  // for people: "BLPOP of client 5 times out"
  };
  // What falls due next, however late. Cost: O(n) for n keys and fields with deadlines.
  std::optional<Due> Next() const;

  const MovableClock& clock() const { return *parts_.clock; }
  bool is_auto() const { return is_auto_; }

  // Stops the clock at a whole millisecond.
  void Freeze();
  // Requires: MovableClock::kSlowest <= rate <= kFastest.
  void RunAt(double rate);
  void FollowMachine();
  // As a time server that sets the clock back: only wall time changes.
  void SetBack(int64_t wall_ms);
  // Jumps to the next thing that is due whenever all clients wait for messages or keys.
  void SetAuto(bool is_auto) { is_auto_ = is_auto; }  // NOLINT: the setting itself

  // The clock as it is now, and back to that. What falls due in between does not happen.
  struct State {
    MovableClock::Mode mode;
    double rate;
    int64_t wall_us;
    int64_t offset_us;  // from the machine's
    bool is_auto;
  };
  State Save() const;
  void Restore(const State& state);

  // --- Jumps forward.

  // These jump in the next Turn, and not at all beyond the limits. Require: a host.
  void Depart(uint64_t client, int64_t elapsed_ms);
  // To this wall time: if the clock has passed it by then, it is set back.
  void DepartTo(uint64_t client, int64_t wall_ms);
  // To what falls due next, if anything does.
  void DepartToNext(uint64_t client);
  struct Arrival {
    bool is_too_far = false;      // the clock has not moved
    std::optional<Due> met = {};  // by DepartToNext
  };
  bool MayPass(int64_t elapsed_ms) const;
  // These jump at once. Require: no command runs, and something happens to this server in this Turn.
  Arrival PassNow(int64_t elapsed_ms);
  Arrival MoveNowTo(int64_t wall_ms);
  bool IsUnderWay(uint64_t client) const { return trips_.contains(client); }
  // Nothing: it is still under way. Requires: IsUnderWay.
  std::optional<Arrival> TakeArrival(uint64_t client);

  // Jumps if it is to do so by itself.
  void EndTurn();

 private:
  struct Trip {
    bool has_ended = false;
    Arrival arrival = {};
  };

  // Requires: MayPass.
  void Pass(int64_t elapsed_ms);
  // What falls due next, as far as the clock can get there.
  std::optional<Due> NextInReach() const;
  std::optional<Due> PassToNext();
  void Post(uint64_t client, std::function<Arrival()> travel);
  bool EveryClientWaits() const;
  void Changed();

  const Parts parts_;
  bool is_auto_ = false;
  bool is_passing_ = false;
  bool has_posted_ = false;  // a jump by itself
  std::map<uint64_t, Trip> trips_;
};

}  // namespace respite
