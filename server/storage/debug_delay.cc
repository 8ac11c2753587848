#include "server/storage/debug_delay.h"

#include <signal.h>
#include <time.h>

namespace respite {

void SleepUs(int64_t us) {
  sigset_t ticks, before;
  sigemptyset(&ticks);
  sigaddset(&ticks, SIGRTMIN);
  pthread_sigmask(SIG_BLOCK, &ticks, &before);
  const timespec duration{static_cast<time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000 * 1000)};
  nanosleep(&duration, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace respite
