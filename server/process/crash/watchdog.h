// Watchdog (`watchdog-period`): logs a stack trace of the event loop's thread if Feed is not called for a period,
// because then the loop is blocked. A system timer sends SIGALRM to the thread that feeds the watchdog. The signal
// handler logs with system calls and walks the stack as the crash report does (crash_report.h).
#pragma once

#include <time.h>

#include <chrono>
#include <thread>

namespace respite {

// A thread may have at most one Watchdog.
class Watchdog {  // logs a stack trace if this thread's event loop is blocked for watchdog-period
 public:
  Watchdog() = default;
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // SetPeriod and Feed must be called on the thread that is watched.
  void SetPeriod(std::chrono::milliseconds period);  // sets how long the loop may be blocked; zero: off
  // Must be called more often than once in a period; NodeServer calls Feed at each tick. Cost: a system call if the
  // watchdog is on, otherwise a comparison.
  void Feed() {  // restarts the period, since the loop is not blocked
    if (IsOn()) Start();
  }

 private:
  bool IsOn() const { return period_.count() != 0; }
  void Start();        // restarts the timer for another period
  void MakeTimer();    // creates a system timer that sends SIGALRM to this thread
  void DeleteTimer();  // deletes the timer, if there is one

  std::chrono::milliseconds period_{0};  // how long the loop may be blocked; zero: off
  timer_t timer_{};                      // system timer that sends SIGALRM after the period
  std::thread::id timer_thread_;         // the thread that the signal interrupts; empty without a timer
};

}  // namespace respite
