#include "scripting/script_watch.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

namespace respite {

namespace {

constexpr long kTickNs = 10'000'000;
// The maximum number of ticks without a call of the hook.
constexpr int kMostPatience = 64;

int TickSignal() { return SIGRTMIN; }

// ThreadSanitizer delays signals until our code is called, which an endless script never does.
#if defined(__SANITIZE_THREAD__)
constexpr bool kSignalsWait = true;
#elif defined(__has_feature)
constexpr bool kSignalsWait = __has_feature(thread_sanitizer);
#else
constexpr bool kSignalsWait = false;
#endif

}  // namespace

thread_local std::atomic<ScriptWatch*> ScriptWatch::in_force_{nullptr};

ScriptWatch::~ScriptWatch() {
  Stop();
  if (has_timer_) timer_delete(timer_);
}

void ScriptWatch::OnSignal(int) {
  if (ScriptWatch* watch = in_force_.load(std::memory_order_relaxed)) watch->OnTick();
}

void ScriptWatch::OnTick() {
  lua_State* lua = running_.load(std::memory_order_relaxed);
  const uint64_t runs = runs_.load(std::memory_order_relaxed);
  const bool is_long = lua != nullptr && runs == seen_runs_;
  seen_runs_ = runs;
  const bool has_looked = has_looked_.exchange(false, std::memory_order_relaxed);
  quiet_ticks_ = has_looked || !is_long ? 0 : quiet_ticks_ + 1;
  if (!is_long) patience_ = 1;
  is_look_due_.store(is_long && !has_looked, std::memory_order_relaxed);
  if (quiet_ticks_ < patience_) return;
  patience_ = std::min(2 * patience_, kMostPatience);
  quiet_ticks_ = 0;
  lua_sethook(lua, hook_, LUA_MASKCOUNT, 1);
}

void ScriptWatch::Start() {
  if (!has_timer_ && !kSignalsWait) {
    struct sigaction action {};
    action.sa_handler = OnSignal;
    action.sa_flags = SA_RESTART;
    sigaction(TickSignal(), &action, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = TickSignal();
    event._sigev_un._tid = gettid();
    has_timer_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  }
  const itimerspec every{.it_interval = {0, kTickNs}, .it_value = {0, kTickNs}};
  ticking_ = has_timer_ && timer_settime(timer_, 0, &every, nullptr) == 0;
  // Without a timer every script has the hook from the start.
  if (!ticking_) Hook(running_);
}

void ScriptWatch::Stop() {
  if (!ticking_) return;
  const itimerspec never{};
  timer_settime(timer_, 0, &never, nullptr);
  ticking_ = false;
}

void ScriptWatch::RestIfIdle() {
  const uint64_t runs = runs_.load(std::memory_order_relaxed);
  if (runs == rested_at_runs_) Stop();
  rested_at_runs_ = runs;
}

}  // namespace respite
