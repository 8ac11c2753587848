// The only sources of time. Everything above base/ receives a `const Clock&`, so tests decide what time it is.
//
// Wall time is what deadlines, TIME and log lines show; it may be stepped by the administrator. Monotonic time measures
// durations and timeouts; it never goes back and its origin is unspecified.
#pragma once

#include <cstdint>

namespace respite {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual int64_t WallUs() const = 0;  // microseconds since 1970-01-01T00:00:00Z
  virtual int64_t MonotonicUs() const = 0;

  int64_t WallMs() const { return WallUs() / 1000; }
  int64_t MonotonicMs() const { return MonotonicUs() / 1000; }
};

// The machine's clocks. Cost: one vDSO call (about 20 ns) per reading.
class SystemClock final : public Clock {
 public:
  int64_t WallUs() const override;
  int64_t MonotonicUs() const override;
};

// A clock that stands still until it is told otherwise. Not thread safe.
class ManualClock final : public Clock {
 public:
  int64_t WallUs() const override { return wall_us_; }
  int64_t MonotonicUs() const override {
    wall_us_ += us_per_look_;
    return monotonic_us_ += us_per_look_;
  }

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
