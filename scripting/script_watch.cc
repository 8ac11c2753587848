#include "scripting/script_watch.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace respite {

namespace {

constexpr long kTickNs = 10'000'000;
// The maximum of quiet_ticks_until_hook_. So after at most 16 ticks of 10 ms without a call of the hook, the signal
// handler makes the hook run at the next instruction.
constexpr int kMaxQuietTicksUntilHook = 16;
// The timer stops after this number of ticks without a script.
constexpr int kTicksToRest = 20;

int TickSignal() { return SIGRTMIN; }

// ThreadSanitizer delays signals until C++ code is called, which an endless script never does. So a build with
// ThreadSanitizer uses no timer.
#if defined(__SANITIZE_THREAD__)
constexpr bool kSignalsWait = true;
#elif defined(__has_feature)
constexpr bool kSignalsWait = __has_feature(thread_sanitizer);
#else
constexpr bool kSignalsWait = false;
#endif

}  // namespace

thread_local constinit ScriptWatch::ThreadState ScriptWatch::thread_{};

// The timer of a thread. The signal of a timer reaches the thread that created it, so each thread has its own timer.
// The timer ends with its thread, because the system may give the thread's number to another thread.
class ScriptWatch::Timer {
 public:
  Timer() = default;
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  static Timer& OfThisThread();
  void Start();

 private:
  static void OnSignal(int, siginfo_t* info, void*);
  void Create();
  // Called in the signal handler at each tick. Stops the timer after kTicksToRest ticks in a row without a script.
  void RestIfIdle();

  timer_t timer_{};
  bool is_created_ = false;
  int idle_ticks_ = 0;
};

ScriptWatch::Timer& ScriptWatch::Timer::OfThisThread() {
  static thread_local Timer timer;
  return timer;
}

ScriptWatch::Timer::~Timer() {
  thread_.is_ticking.store(false, std::memory_order_relaxed);
  if (is_created_) timer_delete(timer_);
}

void ScriptWatch::Timer::Create() {
  struct sigaction action {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(TickSignal(), &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = TickSignal();
  event.sigev_value.sival_ptr = this;
  event._sigev_un._tid = gettid();
  is_created_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
}

void ScriptWatch::Timer::Start() {
  if (!is_created_ && !kSignalsWait) Create();
  if (!is_created_) return;
  idle_ticks_ = 0;
  const itimerspec every{.it_interval = {0, kTickNs}, .it_value = {0, kTickNs}};
  thread_.is_ticking.store(timer_settime(timer_, 0, &every, nullptr) == 0, std::memory_order_relaxed);
}

void ScriptWatch::Timer::OnSignal(int, siginfo_t* info, void*) {
  if (info->si_code != SI_TIMER || !IsTicking()) return;
  if (ScriptWatch* watch = thread_.active_watch.load(std::memory_order_relaxed)) watch->OnTick();
  static_cast<Timer*>(info->si_value.sival_ptr)->RestIfIdle();
}

void ScriptWatch::Timer::RestIfIdle() {
  const bool has_begun = thread_.has_begun.exchange(false, std::memory_order_relaxed);
  const bool is_idle = !has_begun && thread_.active_watch.load(std::memory_order_relaxed) == nullptr;
  idle_ticks_ = is_idle ? idle_ticks_ + 1 : 0;
  if (idle_ticks_ < kTicksToRest) return;
  const int saved_errno = errno;
  const itimerspec never{};
  timer_settime(timer_, 0, &never, nullptr);
  errno = saved_errno;
  thread_.is_ticking.store(false, std::memory_order_relaxed);
}

// Makes this the active watch of the thread, and starts the timer if the timer does not run. The signal handler may run
// between any two statements of this function. But it cannot stop the timer after the call of IsTicking below, because
// it stops the timer only if no watch is active and none has begun since its last call.
void ScriptWatch::Begin(lua_State* lua) {
  runs_.store(runs_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  outer_ = thread_.active_watch.load(std::memory_order_relaxed);
  thread_.active_watch.store(this, std::memory_order_relaxed);
  thread_.has_begun.store(true, std::memory_order_relaxed);
  running_.store(lua, std::memory_order_relaxed);
  is_hook_late_.store(false, std::memory_order_relaxed);
  if (IsTicking()) return;
  Timer::OfThisThread().Start();
  if (!IsTicking()) Hook(lua);  // without a timer, every script has the hook from the start
}

void ScriptWatch::End() {
  thread_.active_watch.store(outer_, std::memory_order_relaxed);
  lua_State* lua = running_.load(std::memory_order_relaxed);
  running_.store(nullptr, std::memory_order_relaxed);
  if (lua_gethook(lua) != nullptr) lua_sethook(lua, nullptr, 0, 0);
}

void ScriptWatch::RearmHook(lua_State* lua) {
  is_hook_late_.store(false, std::memory_order_relaxed);
  has_checked_.store(true, std::memory_order_relaxed);
  if (lua_gethookcount(lua) != hook_interval_) Hook(lua);
}

void ScriptWatch::OnTick() {
  lua_State* lua = running_.load(std::memory_order_relaxed);
  const uint64_t runs = runs_.load(std::memory_order_relaxed);
  const bool is_long = lua != nullptr && runs == seen_runs_;
  seen_runs_ = runs;
  const bool has_looked = has_checked_.exchange(false, std::memory_order_relaxed);
  quiet_ticks_ = has_looked || !is_long ? 0 : quiet_ticks_ + 1;
  if (!is_long) quiet_ticks_until_hook_ = 1;
  is_hook_late_.store(is_long && !has_looked, std::memory_order_relaxed);
  if (quiet_ticks_ < quiet_ticks_until_hook_) return;
  quiet_ticks_until_hook_ = std::min(2 * quiet_ticks_until_hook_, kMaxQuietTicksUntilHook);
  quiet_ticks_ = 0;
  lua_sethook(lua, hook_, LUA_MASKCOUNT, 1);
}

}  // namespace respite
