// LapTimer: readings of a Pace that follow each other closely, at less than half the cost.
//
// Every command reads the time when it ends, and a reading of the machine's clock takes as long as the look-up of a
// key. So only the first reading of a lap asks the Pace; later ones add what the tick counter of the processor has
// counted since. The timer measures the rate of the counter itself, by comparing it with the Pace. A lap lasts a few
// milliseconds, so that a small error of the rate stays below a microsecond.
//
// Ticks are used only if the Pace says that they can be trusted (Pace::FollowsTicks). Until the rate is known, every
// reading asks the Pace.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/pace.h"

namespace respite {

// The tick counter of the processor. Cost: about 10 ns.
struct ProcessorTicks {
#if defined(__x86_64__)
  static uint64_t Now() { return __rdtsc(); }
#else
  static uint64_t Now() { return 0; }  // a counter that stands still is not used
#endif
};

// `Ticks` is another counter in tests. Not thread safe.
template <class Ticks>
class LapTimerOf {
 public:
  explicit LapTimerOf(const Pace& pace) : pace_(pace) {}

  // Begins a lap and returns the time in microseconds. Cost: one reading of the Pace.
  int64_t Begin() {
    const int64_t now_us = pace_.NowUs();
    began_ticks_ = Ticks::Now();
    if (now_us >= measure_at_us_) MeasureRate();
    began_us_ = last_us_ = std::max(now_us, last_us_);
    return last_us_;
  }

  // The time in microseconds, never less than what was returned before. Begins the next lap if this one has lasted too
  // long, or if the counter went back.
  int64_t NowUs() {
    const uint64_t ticks = Ticks::Now() - began_ticks_;
    if (ticks >= lap_ticks_) return Begin();
    last_us_ = std::max(last_us_, began_us_ + static_cast<int64_t>((ticks * us_per_tick_) >> kFractionBits));
    return last_us_;
  }

 private:
  static constexpr int kFractionBits = 32;
  static constexpr double kLapUs = 4'000;
  // The rate is measured over the shortest of these times first, then over longer ones.
  static constexpr int64_t kShortestMeasureUs = 20'000;
  static constexpr int64_t kLongMeasureUs = 1'000'000;
  static constexpr int64_t kNever = INT64_MAX;
  // If more ticks pass between two readings, the thread was interrupted, and the readings do not belong together.
  static constexpr uint64_t kMostTicksBetween = 10'000;
  static constexpr double kFewestTicksPerUs = 16;
  static constexpr double kMostTicksPerUs = 100'000;
  // A rate that changes by more is another counter, or the Pace stood still while the machine slept.
  static constexpr double kMostDeviation = 0.01;

  struct Mark {
    uint64_t ticks;
    int64_t us;
  };

  void MeasureRate();
  // Forgets the rate, and begins to measure it.
  void MeasureFrom(const Mark& mark);

  const Pace& pace_;
  uint64_t began_ticks_ = 0;
  int64_t began_us_ = 0;
  int64_t last_us_ = INT64_MIN;
  double ticks_per_us_ = 0;    // 0: not known
  uint64_t lap_ticks_ = 0;     // the longest lap; 0: every reading asks the Pace
  uint64_t us_per_tick_ = 0;   // with kFractionBits behind the point
  std::optional<Mark> since_;  // where the measurement of the rate begins
  int64_t measure_at_us_ = INT64_MIN;
};

template <class Ticks>
void LapTimerOf<Ticks>::MeasureRate() {
  const uint64_t ticks = Ticks::Now();
  const Mark mark{ticks, pace_.NowUs()};
  if (Ticks::Now() - ticks > kMostTicksBetween) return;  // the next lap measures
  const int64_t elapsed_us = since_ ? mark.us - since_->us : 0;
  if (elapsed_us <= 0) return MeasureFrom(mark);
  const double rate = static_cast<double>(mark.ticks - since_->ticks) / static_cast<double>(elapsed_us);
  const bool is_plausible = rate >= kFewestTicksPerUs && rate <= kMostTicksPerUs;
  const bool has_changed = ticks_per_us_ != 0 && std::abs(rate / ticks_per_us_ - 1) > kMostDeviation;
  if (!is_plausible || has_changed) return MeasureFrom(mark);
  // Asked only now, since it costs more than a reading: a server that lives for a few milliseconds does not ask.
  if (ticks_per_us_ == 0 && !pace_.FollowsTicks()) {
    measure_at_us_ = kNever;
    return;
  }
  ticks_per_us_ = rate;
  us_per_tick_ = static_cast<uint64_t>((uint64_t{1} << kFractionBits) / rate);
  lap_ticks_ = static_cast<uint64_t>(kLapUs * rate);
  measure_at_us_ = mark.us + std::min(elapsed_us, kLongMeasureUs);
  if (elapsed_us >= kLongMeasureUs) since_ = mark;
}

template <class Ticks>
void LapTimerOf<Ticks>::MeasureFrom(const Mark& mark) {
  ticks_per_us_ = 0;
  lap_ticks_ = 0;
  since_ = mark;
  measure_at_us_ = mark.us + kShortestMeasureUs;
}

using LapTimer = LapTimerOf<ProcessorTicks>;

}  // namespace respite
