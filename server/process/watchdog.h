// Watchdog (`watchdog-period`): when nothing has fed it for that long, something holds up the event loop, and a stack
// trace of the main thread in the log says what. A timer of the system sends SIGALRM to the thread that switched it on.
// Its handler writes with system calls and walks the stack as the report of a crash does (crash_report.h).
#pragma once

#include <time.h>

#include <chrono>

namespace respite {

// There can be one.
class Watchdog {
 public:
  // To be made on the thread that is to be watched.
  Watchdog() = default;
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Zero switches it off.
  void SetPeriod(std::chrono::milliseconds period);
  // The loop goes round. Cost: a system call while it is on, else a compare.
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
