// Artificial delays for tests: DEBUG SLEEP, rdb-key-save-delay and key-load-delay.
#pragma once

#include <cstdint>

namespace respite {

// Sleeps for `us` µs. As in Redis, a signal ends the sleep early; only the timer signal of scripts (SIGRTMIN) does not.
void SleepUs(int64_t us);  // sleeps this number of µs, or until a signal arrives

// Sleeps for `delay_us` µs. A negative number -n means a sleep of 1 µs on every n-th call; `calls` counts these calls.
inline void DebugDelay(int delay_us, unsigned& calls) {  // sleeps this number of µs; -n: 1 µs in every n-th call
  if (delay_us > 0) SleepUs(delay_us);
  if (delay_us < 0 && ++calls % (0u - static_cast<unsigned>(delay_us)) == 0) SleepUs(1);
}

}  // namespace respite
