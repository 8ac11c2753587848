#include "server/process/crash/watchdog.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>

#include "server/process/crash/signal_log.h"
#include "server/process/crash/stack_trace.h"

namespace respite {

namespace {

// Whether the watchdog of this thread is on. The signal handler then ignores a signal that arrives after the timer was
// stopped.
thread_local constinit volatile std::sig_atomic_t is_watched = 0;

void OnAlarm(int, siginfo_t* info, void* context) {
  const bool is_late = info->si_code == SI_TIMER;
  if (is_late && is_watched == 0) return;
  const int saved_errno = errno;
  SignalLog log;
  log.Prefix();
  log.Write(is_late ? "\n--- WATCHDOG TIMER EXPIRED ---\n" : "\nReceived SIGALRM\n");
  WriteStackTrace(log, *static_cast<ucontext_t*>(context));
  log.Prefix();
  log.Write("--------\n\n");
  errno = saved_errno;
}

// Installs the handler of SIGALRM when the first watchdog is turned on. When the last one is turned off, makes the
// process ignore SIGALRM again.
class AlarmHandler {
 public:
  static void Acquire() {
    const std::lock_guard lock(mutex_);
    if (users_++ == 0) Handle(OnAlarm);
  }
  static void Release() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) Handle(nullptr);
  }

 private:
  static void Handle(void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    if (handler == nullptr) {
      action.sa_handler = SIG_IGN;
    } else {
      action.sa_sigaction = handler;
      action.sa_flags = SA_SIGINFO | SA_RESTART;
    }
    sigaction(SIGALRM, &action, nullptr);
  }

  static inline constinit std::mutex mutex_;
  static inline constinit int users_ = 0;
};

}  // namespace

Watchdog::~Watchdog() {
  if (IsOn()) AlarmHandler::Release();
  DeleteTimer();
}

void Watchdog::SetPeriod(std::chrono::milliseconds period) {
  const bool was_on = IsOn();
  period_ = period;
  is_watched = IsOn() ? 1 : 0;
  if (IsOn()) {
    PrepareStackTraces();
    if (!was_on) AlarmHandler::Acquire();
    return Start();
  }
  DeleteTimer();
  if (was_on) AlarmHandler::Release();
}

void Watchdog::Start() {
  if (timer_thread_ != std::this_thread::get_id()) MakeTimer();
  if (timer_thread_ == std::thread::id()) return;
  constexpr long kNanosPerMilli = 1'000'000;
  itimerspec rings{};
  rings.it_value.tv_sec = static_cast<time_t>(period_.count() / 1000);
  rings.it_value.tv_nsec = static_cast<long>(period_.count() % 1000) * kNanosPerMilli;
  timer_settime(timer_, 0, &rings, nullptr);
}

// Creates the timer, which sends its signal to this thread. Called again when the loop has moved to another thread.
void Watchdog::MakeTimer() {
  DeleteTimer();
  is_watched = 1;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = gettid();
  if (timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0) timer_thread_ = std::this_thread::get_id();
}

void Watchdog::DeleteTimer() {
  if (timer_thread_ == std::thread::id()) return;
  timer_delete(timer_);
  timer_thread_ = {};
}

}  // namespace respite
