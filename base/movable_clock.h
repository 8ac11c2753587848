// MovableClock: the machine's clock until a caller stops it, moves it or changes its speed. TEST CLOCK does this, for
// tests of programs that use the server. Monotonic time never goes back.
//
//   MovableClock clock(machine, pace);
//   clock.Freeze();              // stands still now
//   clock.AdvanceUs(60'000'000); // a minute has passed
//   clock.FollowMachine();       // wall time is the machine's again; monotonic time continues
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace respite {

// Not thread safe.
class MovableClock final : public Clock {
 public:
  // kReal: the speed of real time, though possibly with an offset. kFrozen: stands still. kScaled: slower or faster.
  enum class Mode : uint8_t { kReal, kFrozen, kScaled };
  static constexpr double kSlowest = 0.1;
  static constexpr double kFastest = 100'000;

  // `pace` is the Pace whose readings MonotonicUsAt receives.
  MovableClock(const Clock& machine, const Pace& pace);

  int64_t WallUs() const override;
  int64_t MonotonicUs() const override { return mode_ == Mode::kFrozen ? monotonic_us_ : MonotonicUsAt(pace_.NowUs()); }
  int64_t MonotonicUsAt(int64_t pace_us) const override;
  int64_t PaceUsWhen(int64_t monotonic_us) const override;

  Mode mode() const { return mode_; }
  // Returns the clock seconds per real second; 0 while the clock stands still.
  double rate() const { return rate_; }
  // Returns how far wall time is ahead of the machine's.
  int64_t OffsetUs() const { return WallUs() - machine_.WallUs(); }

  void Freeze() { Run(Mode::kFrozen, 0); }
  // Requires: kSlowest <= rate <= kFastest.
  void RunAt(double rate) { Run(rate == 1 ? Mode::kReal : Mode::kScaled, rate); }
  void FollowMachine();
  // Advances both times immediately; the mode stays. Requires: elapsed_us >= 0, and the sums do not overflow.
  void AdvanceUs(int64_t elapsed_us);
  // Sets wall time only, like an administrator or a time server.
  void SetWallUs(int64_t wall_us);

 private:
  void Run(Mode mode, double rate);
  // Makes the present the anchor: the moment from which elapsed time is counted.
  void Anchor();

  const Clock& machine_;
  const Pace& pace_;
  Mode mode_ = Mode::kReal;
  double rate_ = 1;
  // The times at the anchor. In mode kReal, wall time is the machine's plus an offset, so it follows steps of the
  // machine's clock.
  int64_t pace_us_;
  int64_t monotonic_us_;
  int64_t wall_us_;
  int64_t wall_offset_us_ = 0;
};

}  // namespace respite
