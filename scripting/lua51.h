// Lua 5.1 on Lua 5.4: scripts are written for 5.1, where all numbers are doubles and some libraries have other names.
//
// Numbers: the linker replaces a few functions inside Lua by ours (lua51_numbers.cc), so that numerals, numbers read
// from text and the results of libraries are doubles, and every number prints as in 5.1. Integers remain only where
// scripts cannot see them: lengths and the keys of tables.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "scripting/lib_support.h"
#include "scripting/lua_api.h"

namespace respite {

// Opens base, table, string, math and coroutine as in 5.1, into the table of globals. Functions that access the outside
// world (files, print, bytecode) are left out.
void OpenLua51(lua_State* lua);

// Seeds the sequence of math.random, as math.randomseed does. Redis 7.2 does not seed it between scripts: all scripts
// share one sequence.
void SeedRandom(lua_State* lua, int32_t seed);

// Implemented by the owner of a state, who may end the scripts that run in it.
class ThreadObserver {
 public:
  virtual ~ThreadObserver() = default;
  // Called when this thread is about to resume a coroutine. May raise a Lua error.
  virtual void BeforeResume(lua_State* lua) = 0;
  // From now on this thread runs: a coroutine that was resumed, or the one that resumed it.
  virtual void OnSwitch(lua_State* thread) noexcept = 0;
  // Returns true if the script has been ended: code that catches an error must raise it again, whatever it is.
  virtual bool MustEnd(lua_State* lua) noexcept = 0;
};

// `observer` must outlive everything that runs in the state.
void ObserveThreads(lua_State* lua, ThreadObserver* observer);

// Source text, changed so that 5.4 reads it as 5.1 does: unknown escape sequences stand for the character after the
// backslash, a function with `...` that uses the table `arg` gets one, and bytecode is read as text. Line numbers stay
// the same. The hook of a script that adapts a long text is called meanwhile, and may end it.
class AdaptedSource {
 public:
  // `source` must outlive it. Raises an error if the limit of memory does not allow a copy. Cost: O(n); copies nothing
  // if nothing has to change.
  AdaptedSource(lua_State* lua, Bytes source);
  Bytes View() const { return view_; }

 private:
  LuaBuffer text_;
  LuaBuffer whole_;
  Bytes view_;
};

// As lua_load for source text of 5.1, which may not be bytecode. Calls the hook of the script as AdaptedSource does.
int LoadSource(lua_State* lua, Bytes source, const char* chunk);

}  // namespace respite
