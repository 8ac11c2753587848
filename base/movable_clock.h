// MovableClock: the machine's clock until somebody stops it, moves it or lets it run at another speed. Tests of
// programs that use the server do (TEST CLOCK). Monotonic time never goes back, whatever is done to it.
//
//   MovableClock clock(machine, pace);
//   clock.Freeze();              // stands still now
//   clock.AdvanceUs(60'000'000); // a minute has passed
//   clock.FollowMachine();       // wall time is the machine's again; monotonic time goes on from where it is
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace respite {

// Not thread safe.
class MovableClock final : public Clock {
 public:
  // kReal: as fast as real time, though it may be another time. kFrozen: stands still. kScaled: slower or faster.
  enum class Mode : uint8_t { kReal, kFrozen, kScaled };
  static constexpr double kSlowest = 0.1;
  static constexpr double kFastest = 100'000;

  // `pace` is what MonotonicUsAt gets readings of.
  MovableClock(const Clock& machine, const Pace& pace);

  int64_t WallUs() const override;
  int64_t MonotonicUs() const override { return mode_ == Mode::kFrozen ? monotonic_us_ : MonotonicUsAt(pace_.NowUs()); }
  int64_t MonotonicUsAt(int64_t pace_us) const override;
  int64_t PaceUsWhen(int64_t monotonic_us) const override;

  Mode mode() const { return mode_; }
  // Clock seconds in a second; 0 while it stands still.
  double rate() const { return rate_; }
  // How far wall time is ahead of the machine's.
  int64_t OffsetUs() const { return WallUs() - machine_.WallUs(); }

  void Freeze() { Run(Mode::kFrozen, 0); }
  // Requires: kSlowest <= rate <= kFastest.
  void RunAt(double rate) { Run(rate == 1 ? Mode::kReal : Mode::kScaled, rate); }
  void FollowMachine();
  // Time passes at once; the mode stays. Requires: not negative, and the sum is no overflow.
  void AdvanceUs(int64_t elapsed_us);
  // Sets wall time only, as an administrator or a time server does.
  void SetWallUs(int64_t wall_us);

 private:
  void Run(Mode mode, double rate);
  // From now on time is counted from here.
  void Anchor();

  const Clock& machine_;
  const Pace& pace_;
  Mode mode_ = Mode::kReal;
  double rate_ = 1;
  // The times at the anchor. With kReal wall time is the machine's and an offset, so it follows its steps.
  int64_t pace_us_;
  int64_t monotonic_us_;
  int64_t wall_us_;
  int64_t wall_offset_us_ = 0;
};

}  // namespace respite
