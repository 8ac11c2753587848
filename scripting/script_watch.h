// ScriptWatch: makes a script that takes long look up now and then, while short ones run without any hook, which would
// cost Lua a call for each instruction.
//
// A timer of the system ticks while scripts are in use. A script that was running at one tick and still is at the next
// gets the hook, from the signal's handler. Lua allows just that, as long as the handler runs on the same thread: its
// lua_sethook is written to be called in the middle of anything that the state does. It stores the hook, its mask and
// its count, sets a flag in the frames of Lua functions, which the interpreter reads at its next jump, and takes no
// memory; lua_gethook and lua_gethookcount read one word. The rest of the handler are loads and stores of atomics. A
// frame that is being made or left just then may miss the flag; then the next tick comes 10 ms later.
//
// The hook comes every so many instructions, and at once when there was none since the last tick: an instruction can
// be a call that takes long. Each time this takes twice as many ticks, up to half a second, since setting a hook goes
// through all calls that are open: with 200 000 of them that takes longer than a tick. A script that changes coroutines
// more often than instructions count up to a hook is asked at each change (IsLookDue), which every tick without a look
// makes due.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "scripting/lua_api.h"

namespace respite {

class ScriptWatch {
 public:
  // `hook` is called now and then, and then calls Looked, once a script takes long.
  ScriptWatch(lua_Hook hook, int instructions) : hook_(hook), instructions_(instructions) {}
  ~ScriptWatch();
  ScriptWatch(const ScriptWatch&) = delete;
  ScriptWatch& operator=(const ScriptWatch&) = delete;

  // A script begins and ends. Cost: a few stores; the first one after a rest pays two system calls.
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
  // Another thread of the same state computes from now on.
  void Switch(lua_State* thread) {
    running_.store(thread, std::memory_order_relaxed);
    if (!ticking_) Hook(thread);
  }
  // A tick came since the last look, while the script takes long. Cost: a load.
  bool IsLookDue() const { return is_look_due_.load(std::memory_order_relaxed); }
  // The hook was called: the next time is so many instructions from now.
  void Looked(lua_State* lua) {
    is_look_due_.store(false, std::memory_order_relaxed);
    has_looked_.store(true, std::memory_order_relaxed);
    if (lua_gethookcount(lua) != instructions_) Hook(lua);
  }
  // To be called now and then, a few times a second at most: stops the timer when no script ran since the last call.
  void RestIfIdle();

 private:
  // The one whose script runs on this thread: several may have a timer, and what rests may be freed by another thread.
  // The signal comes to the thread that made the timer, and its handler has no other way to find what it is for. While
  // a script takes so long that others are served, another server of this thread may run one as well: they nest.
  static thread_local std::atomic<ScriptWatch*> in_force_;

  static void OnSignal(int);
  void OnTick();
  void Hook(lua_State* lua) { lua_sethook(lua, hook_, LUA_MASKCOUNT, instructions_); }
  void Start();
  void Stop();

  lua_Hook hook_;
  int instructions_;
  ScriptWatch* outer_ = nullptr;  // in force when ours began
  std::atomic<lua_State*> running_{nullptr};
  std::atomic<uint64_t> runs_{0};
  std::atomic<bool> has_looked_{false};  // since the last tick
  std::atomic<bool> is_look_due_{false};
  uint64_t seen_runs_ = 0;       // at the last tick
  int quiet_ticks_ = 0;          // in a row, without a look
  int patience_ = 1;             // so many of them until the hook comes at once
  uint64_t rested_at_runs_ = 0;  // at the last RestIfIdle
  timer_t timer_{};
  bool has_timer_ = false;
  bool ticking_ = false;
};

}  // namespace respite
