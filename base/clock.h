// The time that data and clients see: deadlines, TIME, stream IDs, waits, idle times, the log of slow commands.
// Everything above base/ receives a `const Clock&`, so tests decide what time it is. How long things really take is
// told by a Pace.
//
// Wall time is what deadlines, TIME and log lines show; it may be stepped by the administrator. Monotonic time measures
// durations and timeouts; it never goes back and its origin is unspecified.
#pragma once

#include <cstdint>

#include "base/pace.h"

namespace respite {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual int64_t WallUs() const = 0;  // microseconds since 1970-01-01T00:00:00Z
  virtual int64_t MonotonicUs() const = 0;
  // The same, for whoever has just asked the Pace: costs no call into the system.
  virtual int64_t MonotonicUsAt(int64_t pace_us) const = 0;
  // What the Pace tells when MonotonicUs will have come so far; kNever while the clock stands still.
  virtual int64_t PaceUsWhen(int64_t monotonic_us) const = 0;
  static constexpr int64_t kNever = INT64_MAX;

  int64_t WallMs() const { return WallUs() / 1000; }
  int64_t MonotonicMs() const { return MonotonicUs() / 1000; }
};

// The machine's clocks. Cost: one vDSO call (about 20 ns) per reading.
class SystemClock final : public Clock {
 public:
  int64_t WallUs() const override;
  int64_t MonotonicUs() const override;
  int64_t MonotonicUsAt(int64_t pace_us) const override { return pace_us; }
  int64_t PaceUsWhen(int64_t monotonic_us) const override { return monotonic_us; }
};

// A clock that stands still until it is told otherwise, and a Pace that goes with it for those who want one. Not thread
// safe.
class ManualClock final : public Clock, public Pace {
 public:
  int64_t WallUs() const override { return wall_us_; }
  int64_t MonotonicUs() const override {
    wall_us_ += us_per_look_;
    return monotonic_us_ += us_per_look_;
  }
  int64_t MonotonicUsAt(int64_t) const override { return monotonic_us_; }
  int64_t PaceUsWhen(int64_t monotonic_us) const override { return monotonic_us <= monotonic_us_ ? 0 : kNever; }
  int64_t NowUs() const override { return MonotonicUs(); }

  // Sets the wall; monotonic time stays.
  void SetWallMs(int64_t wall_ms) { wall_us_ = wall_ms * 1000; }

  // Time passes: both readings advance. Requires: not negative.
  void AdvanceUs(int64_t elapsed_us);
  void AdvanceMs(int64_t elapsed_ms) { AdvanceUs(elapsed_ms * 1000); }

  // From now on whoever looks at the monotonic time finds both clocks so much later than who looked before: for what
  // waits for time to pass by itself.
  void PassWithEachLook(int64_t elapsed_us) { us_per_look_ = elapsed_us; }

  // Somebody sets the machine's clock, forwards or back: only the wall moves.
  void StepWallMs(int64_t step_ms) { wall_us_ += step_ms * 1000; }

 private:
  mutable int64_t wall_us_ =
      1'000'000'000'000'000;  // 2001-09-09: far from zero, so that "minus one day" is still a time
  mutable int64_t monotonic_us_ = 1'000'000;
  int64_t us_per_look_ = 0;
};

}  // namespace respite
