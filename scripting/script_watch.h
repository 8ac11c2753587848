// ScriptWatch: calls a hook periodically in long scripts. Short scripts run without a hook, because Lua is slower while
// a hook is set.
//
// A system timer ticks on each thread while the thread runs scripts. If the same script runs at two successive ticks,
// the signal handler sets the hook. Lua allows this if the handler runs on the same thread: lua_sethook may be called
// at any time. lua_sethook stores the hook, its mask and its count. It also sets a flag in the frames of Lua functions,
// which the interpreter reads at its next jump. lua_sethook allocates nothing; lua_gethook and lua_gethookcount read
// one word. The handler also uses atomic loads and stores, and calls timer_settime when the thread has run no script
// for a while. A frame that is being created or left at that moment may miss the flag; then the next tick, 10 ms later,
// sets it.
//
// The hook runs after a number of instructions. If the hook did not run since the last tick, the handler makes the hook
// run at the next instruction, because a single instruction can be a long call. Before the handler does this again, it
// waits twice as long as the time before, up to 160 ms, because setting a hook visits all open calls: with 200 000 open
// calls, this takes longer than a tick. A script may switch coroutines so often that the instruction count never
// reaches the hook. So the script engine also asks IsCheckDue before it resumes a coroutine.
#pragma once

#include <atomic>
#include <cstdint>

#include "scripting/lua_api.h"

namespace respite {

class ScriptWatch {  // makes Lua call a hook periodically in long scripts, so that they can be ended
 public:
  // `hook` is called about every `hook_interval` instructions of a long script. The hook must call RearmHook.
  ScriptWatch(lua_Hook hook, int hook_interval) : hook_(hook), hook_interval_(hook_interval) {}
  ScriptWatch(const ScriptWatch&) = delete;
  ScriptWatch& operator=(const ScriptWatch&) = delete;

  // Begin must be called when a script begins, and End when it ends, on the same thread. The next script may run on
  // another thread. Cost: a few stores. The first script of a thread also creates the timer of this thread. If the
  // timer has stopped since the last script, Begin makes one system call.
  void Begin(lua_State* lua);       // starts to watch the script that begins on this OS thread
  void End();                       // must be called when the script ends, on the same thread
  void Switch(lua_State* thread) {  // must be called when another Lua thread (coroutine) begins to run
    running_.store(thread, std::memory_order_relaxed);
    if (!IsTicking()) Hook(thread);
  }
  bool IsCheckDue() const {  // true: the engine must call Check, as it has not done so for a tick, or no timer runs
    return is_hook_late_.load(std::memory_order_relaxed) || !IsTicking();
  }
  static lua_State* Running() {  // the Lua thread (coroutine) that runs on this OS thread; null: no script does
    const ScriptWatch* watch = thread_.active_watch.load(std::memory_order_relaxed);
    return watch == nullptr ? nullptr : watch->running_.load(std::memory_order_relaxed);
  }
  void RearmHook(
      lua_State* lua);  // called by each Check: lets Lua call the hook after hook_interval_ more instructions

 private:
  class Timer;  // the timer of an operating-system thread that runs scripts

  // The state of an operating-system thread for the signal handler, which runs on that thread and has no other way to
  // find the watch. Watches nest: while a long script lets other clients be served, another server of this thread may
  // also run a script. The struct is trivial, so that the handler may use it until the thread ends.
  struct ThreadState {                       // what the signal handler must know about one OS thread
    std::atomic<ScriptWatch*> active_watch;  // the watch of the script that runs on this OS thread
    std::atomic<bool> has_begun;             // true: a script began since the last tick of the timer
    std::atomic<bool> is_ticking;            // true: this OS thread's timer runs
  };
  static thread_local ThreadState thread_;  // what the signal handler must know of this OS thread

  static bool IsTicking() {  // true: the timer of this OS thread runs
    return thread_.is_ticking.load(std::memory_order_relaxed);
  }
  void OnTick();  // called by the signal handler at each tick of the timer
  void Hook(lua_State* lua) { lua_sethook(lua, hook_, LUA_MASKCOUNT, hook_interval_); }  // sets Lua's hook

  lua_Hook hook_;                             // the hook of long scripts
  int hook_interval_;                         // how many Lua instructions are between two calls of the hook
  ScriptWatch* outer_ = nullptr;              // the watch of the script inside which this script runs; null: none
  std::atomic<lua_State*> running_{nullptr};  // the Lua thread (coroutine) that runs; null: no script does
  std::atomic<uint64_t> runs_{0};             // number of calls of Begin
  std::atomic<bool> has_checked_{false};      // true: the engine has checked the script since the last tick
  std::atomic<bool> is_hook_late_{false};     // true: in the last tick, a long script ran without a check
  uint64_t seen_runs_ = 0;                    // runs_ at the last tick; if equal, the same script still runs
  int quiet_ticks_ =
      0;  // for how many ticks (10 ms) a long script has not called the hook; forcing a call sets it to 0
  int quiet_ticks_until_hook_ = 1;  // after this number of quiet ticks, the handler forces a call of the hook
};

}  // namespace respite
