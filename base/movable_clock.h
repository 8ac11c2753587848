// MovableClock: the machine's clock, until a caller stops or moves the clock or changes its speed. The command TEST
// CLOCK does this, for tests of programs that use the server. Monotonic time never goes back.
//
//   MovableClock clock(machine, real_clock);
//   clock.Freeze();              // stands still now
//   clock.AdvanceUs(60'000'000); // a minute has passed
//   clock.FollowMachine();       // wall time is the machine's again; monotonic time continues at normal speed
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace respite {

// Not thread safe.
class MovableClock final : public Clock {  // the machine's clock, unless the command TEST CLOCK stops or moves it
 public:
  // How fast the clock runs. kReal: at the speed of real time, though possibly with an offset. kFrozen: stands still.
  // kScaled: slower or faster.
  enum class Mode : uint8_t { kReal, kFrozen, kScaled };
  static constexpr double kMinRate = 0.1;      // minimum rate: clock seconds per real second
  static constexpr double kMaxRate = 100'000;  // maximum rate: clock seconds per real second

  // `machine`: the clock of this machine, whose time this clock shows at first. `real_clock`: the clock whose readings
  // MonotonicUsAtRealUs converts.
  MovableClock(const Clock& machine, const RealClock& real_clock);

  int64_t WallUs() const override;        // the Unix time of this clock; stands still while frozen
  int64_t MonotonicUs() const override {  // the monotonic time of this clock; stands still while frozen
    return mode_ == Mode::kFrozen ? monotonic_us_ : MonotonicUsAtRealUs(real_clock_.NowUs());
  }
  int64_t MonotonicUsAtRealUs(int64_t real_us) const override;       // converts real time to monotonic clock time
  int64_t RealUsAtMonotonicUs(int64_t monotonic_us) const override;  // converts clock time to real time; or kNever

  Mode mode() const { return mode_; }
  // Returns how many seconds of this clock pass in one real second; 0 while the clock stands still.
  double rate() const { return rate_; }
  int64_t OffsetUs() const {  // how many µs this clock's Unix time is ahead of the machine's
    return WallUs() - machine_clock_.WallUs();
  }

  void Freeze() { Run(Mode::kFrozen, 0); }  // the clock stands still from now on
  // Requires: kMinRate <= rate <= kMaxRate.
  void RunAt(double rate) {  // sets the clock's speed to `rate` clock seconds per real second
    Run(rate == 1 ? Mode::kReal : Mode::kScaled, rate);
  }
  void FollowMachine();  // makes Unix time the machine's again; monotonic time continues at normal speed
  // Does not change the mode. Requires: elapsed_us >= 0, and the new times fit an int64_t.
  void AdvanceUs(int64_t elapsed_us);  // moves Unix time and monotonic time forward by `elapsed_us`
  void SetWallUs(int64_t wall_us);     // sets the Unix time, but not the monotonic time

 private:
  void Run(Mode mode, double rate);  // changes mode and speed, from now on
  void AnchorAtNow();                // makes now the anchor, the moment from which the clock counts elapsed time

  const Clock& machine_clock_;   // the machine's clock, which TEST CLOCK does not move
  const RealClock& real_clock_;  // the clock from whose readings this clock computes its time
  Mode mode_ = Mode::kReal;
  double rate_ = 1;  // clock seconds per real second; 0: frozen
  // real_us_, monotonic_us_ and wall_us_ describe the anchor, the moment from which the clock counts elapsed time. In
  // mode kReal, this clock's Unix time is the machine's Unix time plus wall_offset_us_, and so follows steps of the
  // machine's clock.
  int64_t real_us_;             // the reading of the RealClock at the anchor, the moment from which time is counted
  int64_t monotonic_us_;        // this clock's monotonic time at the anchor
  int64_t wall_us_;             // this clock's Unix time at the anchor, in µs
  int64_t wall_offset_us_ = 0;  // in mode kReal: this clock's Unix time minus the machine's Unix time, in µs
};

}  // namespace respite
