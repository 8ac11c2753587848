// Clock: the time that data and clients see. Deadlines, TIME, stream IDs, blocking timeouts, idle times and the slow
// log use it. Code above base/ receives a `const Clock&`, so tests can set the time. Pace, in contrast, measures how
// long things really take.
//
// Deadlines, TIME and log lines use wall time, which an administrator may change. Durations and timeouts use monotonic
// time, which never goes back; its origin is unspecified.
#pragma once

#include <cstdint>

#include "base/pace.h"

namespace respite {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual int64_t WallUs() const = 0;  // microseconds since 1970-01-01T00:00:00Z
  virtual int64_t MonotonicUs() const = 0;
  // Converts a reading of Pace that the caller already has into monotonic time. Cost: no system call.
  virtual int64_t MonotonicUsAt(int64_t pace_us) const = 0;
  // Returns the Pace reading at which MonotonicUs will reach `monotonic_us`, or kNever while the clock stands still.
  virtual int64_t PaceUsWhen(int64_t monotonic_us) const = 0;
  static constexpr int64_t kNever = INT64_MAX;

  int64_t WallMs() const { return WallUs() / 1000; }
  int64_t MonotonicMs() const { return MonotonicUs() / 1000; }
};

// Reads the clocks of the machine. Cost: one vDSO call (about 20 ns) per reading.
class SystemClock final : public Clock {
 public:
  int64_t WallUs() const override;
  int64_t MonotonicUs() const override;
  int64_t MonotonicUsAt(int64_t pace_us) const override { return pace_us; }
  int64_t PaceUsWhen(int64_t monotonic_us) const override { return monotonic_us; }
};

// A clock that stands still until a test advances it. It also serves as the Pace for this time. Not thread safe.
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

  // Sets the wall time only.
  void SetWallMs(int64_t wall_ms) { wall_us_ = wall_ms * 1000; }

  // Advances wall time and monotonic time. Requires: elapsed_us >= 0.
  void AdvanceUs(int64_t elapsed_us);
  void AdvanceMs(int64_t elapsed_ms) { AdvanceUs(elapsed_ms * 1000); }

  // From now on, each reading of the monotonic time advances both clocks by `elapsed_us`. Needed for code that waits in
  // a loop until time passes.
  void PassWithEachLook(int64_t elapsed_us) { us_per_look_ = elapsed_us; }

  // Simulates an administrator who sets the machine's clock forward or back: changes only wall time.
  void StepWallMs(int64_t step_ms) { wall_us_ += step_ms * 1000; }

 private:
  mutable int64_t wall_us_ =
      1'000'000'000'000'000;  // 2001-09-09, far from zero, so that subtracting a day still gives a valid time
  mutable int64_t monotonic_us_ = 1'000'000;
  int64_t us_per_look_ = 0;
};

}  // namespace respite
