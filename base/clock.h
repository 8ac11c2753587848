// Clock: the time that data and clients see. Deadlines, TIME, stream IDs, blocking timeouts, idle times and the slow
// log use it. Everything above base/ receives a `const Clock&`, so tests can set the time. Pace tells how long things
// really take.
//
// Deadlines, TIME and log lines use wall time, which the administrator may step. Monotonic time measures durations and
// timeouts; it never goes back and its origin is unspecified.
#pragma once

#include <cstdint>

#include "base/pace.h"

namespace respite {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual int64_t WallUs() const = 0;  // microseconds since 1970-01-01T00:00:00Z
  virtual int64_t MonotonicUs() const = 0;
  // The same, computed from a reading of Pace that the caller already has. Cost: no system call.
  virtual int64_t MonotonicUsAt(int64_t pace_us) const = 0;
  // The Pace reading at which MonotonicUs will reach `monotonic_us`; kNever while the clock stands still.
  virtual int64_t PaceUsWhen(int64_t monotonic_us) const = 0;
  static constexpr int64_t kNever = INT64_MAX;

  int64_t WallMs() const { return WallUs() / 1000; }
  int64_t MonotonicMs() const { return MonotonicUs() / 1000; }
};

// The clocks of the machine. Cost: one vDSO call (about 20 ns) per reading.
class SystemClock final : public Clock {
 public:
  int64_t WallUs() const override;
  int64_t MonotonicUs() const override;
  int64_t MonotonicUsAt(int64_t pace_us) const override { return pace_us; }
  int64_t PaceUsWhen(int64_t monotonic_us) const override { return monotonic_us; }
};

// A clock that stands still until a test moves it. It is also the matching Pace. Not thread safe.
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

  // Sets the wall time; monotonic time stays.
  void SetWallMs(int64_t wall_ms) { wall_us_ = wall_ms * 1000; }

  // Advances wall time and monotonic time. Requires: not negative.
  void AdvanceUs(int64_t elapsed_us);
  void AdvanceMs(int64_t elapsed_ms) { AdvanceUs(elapsed_ms * 1000); }

  // From now on each reading of the monotonic time advances both clocks by `elapsed_us`. For code that waits until time
  // passes.
  void PassWithEachLook(int64_t elapsed_us) { us_per_look_ = elapsed_us; }

  // Simulates an administrator who sets the clock of the machine forwards or back: only wall time changes.
  void StepWallMs(int64_t step_ms) { wall_us_ += step_ms * 1000; }

 private:
  mutable int64_t wall_us_ =
      1'000'000'000'000'000;  // 2001-09-09: far from zero, so that "minus one day" is still a time
  mutable int64_t monotonic_us_ = 1'000'000;
  int64_t us_per_look_ = 0;
};

}  // namespace respite
