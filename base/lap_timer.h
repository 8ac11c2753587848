// LapTimer: gives frequent readings of a RealClock at about half the cost.
//
// The server reads the time at the end of every command, and reading the machine's clock takes as long as looking up a
// key. So only the first reading of a lap uses the RealClock. Later readings add the ticks that the processor has
// counted since then. The timer measures the rate of the tick counter by comparing it with the RealClock. A lap lasts a
// few milliseconds, so that a small error of the rate stays below a microsecond.
//
// The timer uses ticks only if the RealClock says that the ticks can be trusted (RealClock::IsTickCounterReliable).
// Until the rate is known, every reading uses the RealClock.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/real_clock.h"

namespace respite {

struct ProcessorTicks {  // reads the tick counter of the processor; costs about 10 ns
#if defined(__x86_64__)
  static uint64_t Now() { return __rdtsc(); }
#else
  static uint64_t Now() { return 0; }  // a counter that stands still is never used
#endif
};

// LapTimerOf is the implementation of LapTimer. The RealClock is an argument of the constructor; `Ticks` is the tick
// counter, which tests replace. Not thread safe.
template <class Ticks>
class LapTimerOf {  // reads real time cheaply: adds the ticks of the counter `Ticks` to readings of a RealClock
 public:
  explicit LapTimerOf(const RealClock& real_clock) : real_clock_(real_clock) {}

  // The result is never less than an earlier result. Cost: one reading of the RealClock, sometimes two.
  int64_t BeginLap() {  // reads the RealClock and returns its time in µs; NowUs then adds the ticks since
    const int64_t now_us = real_clock_.NowUs();
    began_ticks_ = Ticks::Now();
    if (now_us >= next_rate_measurement_us_) MeasureRate();
    began_us_ = last_us_ = std::max(now_us, last_us_);
    return last_us_;
  }

  // Never returns less than before. Reads the RealClock (BeginLap) instead of the tick counter if the last such reading
  // was kMaxLapUs (4 ms) ago, if the tick counter went back, or while the tick rate is unknown.
  int64_t NowUs() {  // the real time in µs, computed from the tick counter if its rate is known
    const uint64_t ticks = Ticks::Now() - began_ticks_;
    if (ticks >= max_lap_ticks_) return BeginLap();
    last_us_ = std::max(last_us_, began_us_ + static_cast<int64_t>((ticks * us_per_tick_) >> kFractionBits));
    return last_us_;
  }

 private:
  static constexpr int kFractionBits = 32;    // number of fraction bits of us_per_tick_
  static constexpr double kMaxLapUs = 4'000;  // µs after which NowUs reads the clock again instead of the ticks
  // The rate of the tick counter is measured several times from one start: over 20 ms (kMinMeasureUs), 40 ms, 80 ms and
  // so on, each time more exactly. After a measurement over kNewStartUs or more, each later measurement has a new start
  // and takes kNewStartUs.
  static constexpr int64_t kMinMeasureUs = 20'000;   // µs that the first measurement of the tick rate takes, at least
  static constexpr int64_t kNewStartUs = 1'000'000;  // µs after which a measurement of the tick rate starts again
  static constexpr int64_t kNever = INT64_MAX;       // value of next_rate_measurement_us_ when the ticks are unreliable
  // MeasureRate reads the tick counter before and after the RealClock. If the counter has advanced by more than this,
  // the thread was interrupted. The readings then do not show the same moment, and are ignored.
  static constexpr uint64_t kMaxTicksBetweenReadings = 10'000;  // if two readings differ by more, they are ignored
  static constexpr double kMinTicksPerUs = 16;                  // a lower measured rate is implausible, and discarded
  static constexpr double kMaxTicksPerUs = 100'000;             // a higher measured rate is implausible, and discarded
  // A larger change of the rate means that the thread now reads the counter of another processor, or that the RealClock
  // stood still while the machine slept.
  static constexpr double kMaxTickRateChange = 0.01;  // 1 %; if the measured rate changes by more, measuring restarts

  struct Mark {      // two readings at the same moment
    uint64_t ticks;  // what the processor's tick counter showed
    int64_t us;      // reading of the RealClock
  };

  void MeasureRate();  // compares the tick counter with real time to find how many ticks a µs has
  void RestartRateMeasurement(const Mark& mark);  // discards the rate and measures a new one from `mark` on

  const RealClock& real_clock_;     // read once per lap; and by every NowUs while the tick rate is unknown
  uint64_t began_ticks_ = 0;        // what the tick counter showed when the lap began
  int64_t began_us_ = 0;            // when the lap began (real time)
  int64_t last_us_ = INT64_MIN;     // the last result of BeginLap or NowUs
  double ticks_per_us_ = 0;         // the measured rate of the tick counter; 0: unknown
  uint64_t max_lap_ticks_ = 0;      // after this number of ticks, NowUs begins a new lap; 0: the rate is unknown
  uint64_t us_per_tick_ = 0;        // microseconds per tick, as a fixed-point number with kFractionBits fraction bits
  std::optional<Mark> rate_start_;  // time and ticks when the measurement of the rate began
  int64_t next_rate_measurement_us_ = INT64_MIN;  // from this real time on, BeginLap measures the tick rate; or kNever
};

template <class Ticks>
void LapTimerOf<Ticks>::MeasureRate() {  // measures how many ticks a microsecond has
  const uint64_t ticks = Ticks::Now();
  const Mark mark{ticks, real_clock_.NowUs()};
  if (Ticks::Now() - ticks > kMaxTicksBetweenReadings) return;  // the next lap tries again
  const int64_t elapsed_us = rate_start_ ? mark.us - rate_start_->us : 0;
  if (elapsed_us <= 0) return RestartRateMeasurement(mark);
  const double rate = static_cast<double>(mark.ticks - rate_start_->ticks) / static_cast<double>(elapsed_us);
  const bool is_plausible = rate >= kMinTicksPerUs && rate <= kMaxTicksPerUs;
  const bool has_changed = ticks_per_us_ != 0 && std::abs(rate / ticks_per_us_ - 1) > kMaxTickRateChange;
  if (!is_plausible || has_changed) return RestartRateMeasurement(mark);
  // IsTickCounterReliable reads a small file, which costs more than reading the RealClock. So the timer calls it only
  // after a rate has been measured, which a server that lives for a few milliseconds never does.
  if (ticks_per_us_ == 0 && !real_clock_.IsTickCounterReliable()) {
    next_rate_measurement_us_ = kNever;
    return;
  }
  ticks_per_us_ = rate;
  us_per_tick_ = static_cast<uint64_t>((uint64_t{1} << kFractionBits) / rate);
  max_lap_ticks_ = static_cast<uint64_t>(kMaxLapUs * rate);
  next_rate_measurement_us_ = mark.us + std::min(elapsed_us, kNewStartUs);
  if (elapsed_us >= kNewStartUs) rate_start_ = mark;
}

template <class Ticks>
void LapTimerOf<Ticks>::RestartRateMeasurement(const Mark& mark) {  // discards the rate, and measures again
  ticks_per_us_ = 0;
  max_lap_ticks_ = 0;
  rate_start_ = mark;
  next_rate_measurement_us_ = mark.us + kMinMeasureUs;
}

using LapTimer = LapTimerOf<ProcessorTicks>;

}  // namespace respite
