// Clock: the time that data and clients see. Deadlines, TIME, stream IDs, blocking timeouts, idle times and the slow
// log use a Clock. Code above base/ receives a `const Clock&`, so tests can set the time. RealClock, in contrast,
// measures how long things really take.
//
// Deadlines, TIME and log lines use wall time, which an administrator may change. Durations and timeouts use monotonic
// time, which never goes back; its origin is unspecified.
#pragma once

#include <cstdint>

#include "base/real_clock.h"

namespace respite {

class Clock {  // the time that data and clients see; TEST CLOCK can move some clocks (MovableClock)
 public:
  virtual ~Clock() = default;

  virtual int64_t WallUs() const = 0;       // the Unix time in microseconds
  virtual int64_t MonotonicUs() const = 0;  // elapsed time in µs from an arbitrary origin; never goes back
  // Converts a reading of RealClock to this clock's monotonic time. This clock may run differently (TEST CLOCK). Makes
  // no system call, unlike MonotonicUs().
  virtual int64_t MonotonicUsAtRealUs(int64_t real_us) const = 0;  // this clock's time at a reading of the RealClock
  // Returns kNever if the clock stands still before `monotonic_us`, or if `monotonic_us` is too far away. If this clock
  // has already passed `monotonic_us`, returns a real time that has also passed.
  virtual int64_t RealUsAtMonotonicUs(int64_t monotonic_us) const = 0;  // when this clock will show it, in real time
  static constexpr int64_t kNever = INT64_MAX;  // result of RealUsAtMonotonicUs: the clock will not reach this time

  int64_t WallMs() const { return WallUs() / 1000; }            // Unix time in milliseconds; may be set back
  int64_t MonotonicMs() const { return MonotonicUs() / 1000; }  // elapsed ms from an arbitrary origin; never goes back
};

// Cost: one vDSO call (about 20 ns) per reading.
class SystemClock final : public Clock {  // the machine's clocks, which tests cannot move
 public:
  int64_t WallUs() const override;       // the Unix time in microseconds
  int64_t MonotonicUs() const override;  // elapsed time in µs from an arbitrary origin; never goes back
  int64_t MonotonicUsAtRealUs(int64_t real_us) const override {  // returns `real_us`: RealClock and this clock agree
    return real_us;
  }
  int64_t RealUsAtMonotonicUs(int64_t monotonic_us) const override {  // returns `monotonic_us`: RealClock agrees
    return monotonic_us;
  }
};

// Serves as the Clock of a server and as its RealClock: the real time is then the monotonic time of this clock. Not
// thread safe.
class ManualClock final : public Clock, public RealClock {  // for tests: stands still until a test advances it
 public:
  int64_t WallUs() const override { return wall_us_; }  // the Unix time, as the test has set and moved it
  int64_t MonotonicUs() const override {  // the monotonic time; first moves the clock if AdvanceWithEachReading says so
    wall_us_ += us_per_reading_;
    return monotonic_us_ += us_per_reading_;
  }
  int64_t MonotonicUsAtRealUs(int64_t) const override { return monotonic_us_; }  // always the clock's current time
  int64_t RealUsAtMonotonicUs(int64_t monotonic_us) const override {  // 0: this time is reached; kNever: not yet
    return monotonic_us <= monotonic_us_ ? 0 : kNever;
  }
  int64_t NowUs() const override { return MonotonicUs(); }  // real time in µs, here equal to the monotonic time

  void SetWallMs(int64_t wall_ms) { wall_us_ = wall_ms * 1000; }  // sets the Unix time; monotonic time stays

  // Requires: elapsed_us >= 0.
  void AdvanceUs(int64_t elapsed_us);  // moves Unix time and monotonic time forward by `elapsed_us`
  void AdvanceMs(int64_t elapsed_ms) { AdvanceUs(elapsed_ms * 1000); }  // moves Unix time and monotonic time forward

  // Makes each MonotonicUs() and NowUs() first move the clock forward, for tests of code that waits in a loop until
  // time passes.
  void AdvanceWithEachReading(int64_t elapsed_us) {  // for tests: each reading first moves the clock by elapsed_us
    us_per_reading_ = elapsed_us;
  }

  void StepWallMs(int64_t step_ms) {  // adds `step_ms` to the Unix time; monotonic time stays
    wall_us_ += step_ms * 1000;
  }

 private:
  mutable int64_t wall_us_ = 1'000'000'000'000'000;  // Unix time that the clock shows; begins in 2001
  mutable int64_t monotonic_us_ = 1'000'000;         // the monotonic time that the clock shows
  int64_t us_per_reading_ = 0;  // µs by which each MonotonicUs() first advances the clock; 0: none
};

}  // namespace respite
