// Watchdog (`watchdog-period`): if Feed is not called for a period, the event loop is blocked, and the stack trace of
// its thread is logged. A system timer sends SIGALRM to the thread that feeds the watchdog. The handler logs with
// system calls and walks the stack as the crash report does (crash_report.h).
#pragma once

#include <time.h>

#include <chrono>
#include <thread>

namespace respite {

// Requires: at most one for each thread.
class Watchdog {
 public:
  Watchdog() = default;
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Zero turns it off. To be called, as Feed is, on the thread to watch.
  void SetPeriod(std::chrono::milliseconds period);
  // To be called in each round of the loop. Cost: a system call if the watchdog is on, else a comparison.
  void Feed() {
    if (IsOn()) Start();
  }

 private:
  bool IsOn() const { return period_.count() != 0; }
  void Start();
  void MakeTimer();
  void DeleteTimer();

  std::chrono::milliseconds period_{0};
  timer_t timer_{};
  std::thread::id timer_thread_;  // that the signal reaches; none: there is no timer
};

}  // namespace respite
