// Artificial delays for tests: DEBUG SLEEP, rdb-key-save-delay and key-load-delay.
#pragma once

#include <signal.h>
#include <time.h>

#include <cstdint>

namespace respite {

// Sleeps for `us` µs. The timer signal of scripts (SIGRTMIN) does not cut the sleep short; other signals do, as in
// Redis.
inline void SleepUs(int64_t us) {
  sigset_t ticks, before;
  sigemptyset(&ticks);
  sigaddset(&ticks, SIGRTMIN);
  pthread_sigmask(SIG_BLOCK, &ticks, &before);
  const timespec duration{static_cast<time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000 * 1000)};
  nanosleep(&duration, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Sleeps for `delay_us` µs; a negative number -n means the shortest sleep on every n-th call.
inline void DebugDelay(int delay_us, unsigned& calls) {
  if (delay_us > 0) SleepUs(delay_us);
  if (delay_us < 0 && ++calls % (0u - static_cast<unsigned>(delay_us)) == 0) SleepUs(1);
}

}  // namespace respite
