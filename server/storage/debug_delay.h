// Servers made slow on purpose, for tests: DEBUG SLEEP, rdb-key-save-delay and key-load-delay.
#pragma once

#include <signal.h>
#include <time.h>

#include <cstdint>

namespace respite {

// Sleeps for so many µs. The ticks that scripts are watched by (SIGRTMIN) do not cut it short; other signals do, as in
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

// Sleeps for so many µs; a negative number means the shortest sleep once in so many calls.
inline void DebugDelay(int delay_us, unsigned& calls) {
  if (delay_us > 0) SleepUs(delay_us);
  if (delay_us < 0 && ++calls % (0u - static_cast<unsigned>(delay_us)) == 0) SleepUs(1);
}

}  // namespace respite
