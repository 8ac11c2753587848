// ScriptWatch: calls a hook periodically in long scripts. Short scripts run without a hook, because a hook costs Lua a
// call for each instruction.
//
// A system timer ticks while scripts are in use. If the same script runs at two successive ticks, the signal handler
// sets the hook. Lua allows exactly this if the handler runs on the same thread: lua_sethook may be called while the
// state is doing anything. It stores the hook, its mask and its count, sets a flag in the frames of Lua functions,
// which the interpreter reads at its next jump, and allocates nothing; lua_gethook and lua_gethookcount read one word.
// The rest of the handler consists of atomic loads and stores. A frame that is being created or left at that moment may
// miss the flag; then the next tick comes 10 ms later.
//
// The hook runs after a number of instructions, and immediately if it did not run since the last tick, because a single
// instruction can be a long call. Each time this takes twice as many ticks, up to half a second, because setting a hook
// visits all open calls: with 200 000 of them that takes longer than a tick. A script that switches coroutines so often
// that the instruction count never reaches the hook is checked at each switch (IsLookDue); every tick without a check
// makes one due.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "scripting/lua_api.h"

namespace respite {

class ScriptWatch {
 public:
  // In a long script, `hook` is called periodically; it must call Looked.
  ScriptWatch(lua_Hook hook, int instructions) : hook_(hook), instructions_(instructions) {}
  ~ScriptWatch();
  ScriptWatch(const ScriptWatch&) = delete;
  ScriptWatch& operator=(const ScriptWatch&) = delete;

  // Call these when a script begins and ends. Cost: a few stores; the first one after a rest costs two system calls.
  void Begin(lua_State* lua) {
    runs_.store(runs_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    outer_ = in_force_.load(std::memory_order_relaxed);
    in_force_.store(this, std::memory_order_relaxed);
    running_.store(lua, std::memory_order_relaxed);
    is_look_due_.store(false, std::memory_order_relaxed);
    if (!ticking_) Start();
  }
  void End() {
    in_force_.store(outer_, std::memory_order_relaxed);
    lua_State* lua = running_.load(std::memory_order_relaxed);
    running_.store(nullptr, std::memory_order_relaxed);
    if (lua_gethook(lua) != nullptr) lua_sethook(lua, nullptr, 0, 0);
  }
  // From now on another thread of the same state runs.
  void Switch(lua_State* thread) {
    running_.store(thread, std::memory_order_relaxed);
    if (!ticking_) Hook(thread);
  }
  // True if a tick came since the last check of a long script, and always if no timer ticks. Cost: two loads.
  bool IsLookDue() const { return is_look_due_.load(std::memory_order_relaxed) || !ticking_; }
  // Call this in the hook: the next call is `instructions` later.
  void Looked(lua_State* lua) {
    is_look_due_.store(false, std::memory_order_relaxed);
    has_looked_.store(true, std::memory_order_relaxed);
    if (lua_gethookcount(lua) != instructions_) Hook(lua);
  }
  // Call it a few times a second at most: stops the timer if no script ran since the last call.
  void RestIfIdle();

 private:
  // The watch of the script that runs on this thread. Several watches may have a timer, and another thread may free an
  // idle one. The signal is delivered to the thread that created the timer, and its handler has no other way to find
  // the watch. While a long script lets other clients be served, another server of this thread may run a script, too:
  // watches nest.
  static thread_local std::atomic<ScriptWatch*> in_force_;

  static void OnSignal(int);
  void OnTick();
  void Hook(lua_State* lua) { lua_sethook(lua, hook_, LUA_MASKCOUNT, instructions_); }
  void Start();
  void Stop();

  lua_Hook hook_;
  int instructions_;
  ScriptWatch* outer_ = nullptr;  // in force when this one began
  std::atomic<lua_State*> running_{nullptr};
  std::atomic<uint64_t> runs_{0};
  std::atomic<bool> has_looked_{false};  // since the last tick
  std::atomic<bool> is_look_due_{false};
  uint64_t seen_runs_ = 0;       // at the last tick
  int quiet_ticks_ = 0;          // in a row, without a look
  int patience_ = 1;             // how many of them until the hook runs immediately
  uint64_t rested_at_runs_ = 0;  // at the last RestIfIdle
  timer_t timer_{};
  bool has_timer_ = false;
  bool ticking_ = false;
};

}  // namespace respite
