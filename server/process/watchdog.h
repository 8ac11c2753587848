// Watchdog (`watchdog-period`): if Feed is not called for a period, the event loop is blocked, and the stack trace of
// the main thread is logged. A system timer sends SIGALRM to the thread that called SetPeriod. The handler logs with
// system calls and walks the stack as the crash report does (crash_report.h).
#pragma once

#include <time.h>

#include <chrono>

namespace respite {

// Requires: one instance.
class Watchdog {
 public:
  // To be created on the thread to watch.
  Watchdog() = default;
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Zero turns it off.
  void SetPeriod(std::chrono::milliseconds period);
  // To be called in each round of the loop. Cost: a system call if the watchdog is on, else a comparison.
  void Feed() {
    if (period_.count() != 0) Start();
  }

 private:
  void Make();
  void Start();

  std::chrono::milliseconds period_{0};
  timer_t timer_{};
  bool is_made_ = false;
};

}  // namespace respite
