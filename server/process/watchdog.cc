#include "server/process/watchdog.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "server/process/signal_log.h"
#include "server/process/stack_trace.h"

namespace respite {

namespace {

void OnAlarm(int, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  SignalLog log;
  log.Prefix();
  log.Write(info->si_code == SI_TIMER ? "\n--- WATCHDOG TIMER EXPIRED ---\n" : "\nReceived SIGALRM\n");
  WriteStackTrace(log, *static_cast<ucontext_t*>(context));
  log.Prefix();
  log.Write("--------\n\n");
  errno = saved_errno;
}

void Handle(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  if (handler == nullptr) {
    action.sa_handler = SIG_IGN;  // discards a pending signal
  } else {
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
  }
  sigaction(SIGALRM, &action, nullptr);
}

}  // namespace

Watchdog::~Watchdog() {
  if (is_made_) timer_delete(timer_);
}

void Watchdog::SetPeriod(std::chrono::milliseconds period) {
  period_ = period;
  if (period.count() == 0) {
    if (!is_made_) return;
    Start();
    return Handle(nullptr);
  }
  PrepareStackTraces();
  if (!is_made_) Make();
  Handle(OnAlarm);
  Start();
}

void Watchdog::Make() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = gettid();
  is_made_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
}

void Watchdog::Start() {
  if (!is_made_) return;
  constexpr long kNanosPerMilli = 1'000'000;
  itimerspec rings{};
  rings.it_value.tv_sec = static_cast<time_t>(period_.count() / 1000);
  rings.it_value.tv_nsec = static_cast<long>(period_.count() % 1000) * kNanosPerMilli;
  timer_settime(timer_, 0, &rings, nullptr);
}

}  // namespace respite
