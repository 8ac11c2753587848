#include "base/movable_clock.h"

#include <algorithm>
#include <cmath>

namespace respite {

MovableClock::MovableClock(const Clock& machine, const RealClock& real_clock)
    : machine_clock_(machine),
      real_clock_(real_clock),
      real_us_(real_clock.NowUs()),
      monotonic_us_(machine.MonotonicUsAtRealUs(real_us_)),
      wall_us_(machine.WallUs()) {}

int64_t MovableClock::WallUs() const {
  if (mode_ == Mode::kReal) return machine_clock_.WallUs() + wall_offset_us_;
  return wall_us_ + (MonotonicUs() - monotonic_us_);
}

// The clock counts elapsed time from the anchor, the moment of the latest call of AnchorAtNow. A `real_us` before the
// anchor counts as the anchor.
int64_t MovableClock::MonotonicUsAtRealUs(int64_t real_us) const {
  const int64_t elapsed_us = std::max(real_us - real_us_, int64_t{0});
  if (mode_ == Mode::kReal) return monotonic_us_ + elapsed_us;
  return monotonic_us_ + static_cast<int64_t>(static_cast<double>(elapsed_us) * rate_);
}

int64_t MovableClock::RealUsAtMonotonicUs(int64_t monotonic_us) const {
  if (monotonic_us <= monotonic_us_) return real_us_;
  if (mode_ == Mode::kFrozen) return kNever;
  const double elapsed_us = std::ceil(static_cast<double>(monotonic_us - monotonic_us_) / rate_);
  const double most_us = static_cast<double>(kNever - real_us_) / 2;  // half, because a double is not exact
  return elapsed_us > most_us ? kNever : real_us_ + static_cast<int64_t>(elapsed_us);
}

void MovableClock::AnchorAtNow() {
  const int64_t wall_us = WallUs();
  const int64_t real_us = real_clock_.NowUs();
  monotonic_us_ = MonotonicUsAtRealUs(real_us);
  real_us_ = real_us;
  wall_us_ = wall_us;
}

void MovableClock::Run(Mode mode, double rate) {
  AnchorAtNow();
  mode_ = mode;
  rate_ = rate;
  wall_offset_us_ = wall_us_ - machine_clock_.WallUs();
}

void MovableClock::FollowMachine() {
  Run(Mode::kReal, 1);
  wall_offset_us_ = 0;
}

void MovableClock::AdvanceUs(int64_t elapsed_us) {
  if (mode_ != Mode::kFrozen) AnchorAtNow();
  monotonic_us_ += elapsed_us;
  wall_us_ += elapsed_us;
  wall_offset_us_ += elapsed_us;
}

void MovableClock::SetWallUs(int64_t wall_us) {
  AnchorAtNow();
  wall_us_ = wall_us;
  wall_offset_us_ = wall_us - machine_clock_.WallUs();
}

}  // namespace respite
