// ClockControl: TEST CLOCK. Stops and moves the clock that the data and the clients of one server see.
//
// A jump forward takes a turn of its own, because deadlines, timeouts and pauses on the way are served at their own
// time, as if that time had passed. Depart requests the jump, and TakeArrival tells when it has ended.
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

// The change that TEST CLOCK or TEST CLUSTER CLOCK requests.
struct ClockMove {
  enum class Kind : uint8_t { kFreeze, kAdvance, kSet, kNext, kRate, kAuto, kReal } kind;
  std::optional<int64_t> ms = {};  // kFreeze, kSet: Unix time; kAdvance: a duration
  double rate = 1;                 // kRate
  bool is_auto = false;            // kAuto
};

// Serves the events that become due when the clock of a server is moved. Housekeeping, which is above this room,
// implements it.
class TimeKeeper {
 public:
  virtual ~TimeKeeper() = default;
  // Lets `elapsed_ms` pass in steps, so that each event that becomes due is served at its own time, in order. `advance`
  // moves the clock by a number of ms. Requires: no command runs.
  virtual void PassTime(int64_t elapsed_ms, const std::function<void(int64_t)>& advance) = 0;
  // Computes the next due time again. Called when the clock has another speed or shows another time.
  enum class Motion : uint8_t { kRuns, kStands };
  virtual void OnClockChanged(Motion motion) = 0;
};

class ClockControl {
 public:
  // The end of the year 9999: stream IDs, dates in INFO and sums of deadlines stay far from their limits.
  static constexpr int64_t kLatestWallMs = 253'402'300'799'999;
  // Wall time may be set back and advanced repeatedly, so the total time that has passed is limited also.
  static constexpr int64_t kLatestMonotonicMs = 4'000'000'000'000'000;

  struct Parts {
    const Env& env;
    MovableClock* clock;  // null if this server has none (test-commands no)
    const ExactExpiry& deadlines;
    Clients& clients;
    Executor& executor;
    TimeKeeper& keeper;
  };
  explicit ClockControl(const Parts& parts) : parts_(parts) {}

  // Returns whether this server has a movable clock. All other functions require that.
  bool Exists() const { return parts_.clock != nullptr; }

  struct Due {
    int64_t wall_ms;
    int64_t in_ms;     // from now, or from the time before a jump to this event
    std::string what;  // readable text: "BLPOP of client 5 times out"
  };
  // Returns the next event that becomes due, however late. Cost: O(n) for n keys and fields with deadlines.
  std::optional<Due> Next() const;

  const MovableClock& clock() const { return *parts_.clock; }
  bool is_auto() const { return is_auto_; }

  // Stops the clock at a whole millisecond.
  void Freeze();
  // Requires: MovableClock::kSlowest <= rate <= kFastest.
  void RunAt(double rate);
  void FollowMachine();
  // Sets only the wall time back, as a time server does.
  void SetBack(int64_t wall_ms);
  // TEST CLOCK AUTO: if true, jumps to the next due event whenever all clients wait for messages or keys.
  void SetAuto(bool is_auto) { is_auto_ = is_auto; }  // NOLINT: the setting itself

  // Save returns the state of the clock, and Restore sets it. Events that become due between the two times do not
  // happen.
  struct State {
    MovableClock::Mode mode;
    double rate;
    int64_t wall_us;
    int64_t offset_us;  // distance from the machine's clock
    bool is_auto;
  };
  State Save() const;
  void Restore(const State& state);

  // --- Jumps forward.

  // Depart, DepartTo and DepartToNext jump in the next turn, and never beyond the limits. They require a host.
  void Depart(uint64_t client, int64_t elapsed_ms);
  // Jumps to this wall time. Sets the clock back if it has passed that time by then.
  void DepartTo(uint64_t client, int64_t wall_ms);
  // Jumps to the next due event, if there is one.
  void DepartToNext(uint64_t client);
  struct Arrival {
    bool is_too_far = false;      // the clock has not moved
    std::optional<Due> met = {};  // the event that DepartToNext jumped to
  };
  bool MayPass(int64_t elapsed_ms) const;
  // PassNow and MoveNowTo jump immediately. They require that no command runs and that this server has events in this
  // turn.
  Arrival PassNow(int64_t elapsed_ms);
  Arrival MoveNowTo(int64_t wall_ms);
  bool IsUnderWay(uint64_t client) const { return trips_.contains(client); }
  // Returns nullopt while the jump is under way. Requires: IsUnderWay.
  std::optional<Arrival> TakeArrival(uint64_t client);

  // Jumps to the next due event if SetAuto is on and all clients wait.
  void EndTurn();

 private:
  struct Trip {
    bool has_ended = false;
    Arrival arrival = {};
  };

  // Lets time pass, and serves each event that becomes due. Requires: MayPass.
  void Pass(int64_t elapsed_ms);
  // Returns the next due event if the clock can reach it within its limits.
  std::optional<Due> NextInReach() const;
  std::optional<Due> PassToNext();
  void Post(uint64_t client, std::function<Arrival()> travel);
  bool EveryClientWaits() const;
  void Changed();

  const Parts parts_;
  bool is_auto_ = false;
  bool is_passing_ = false;
  bool has_posted_ = false;  // an automatic jump is posted
  std::map<uint64_t, Trip> trips_;
};

}  // namespace respite
