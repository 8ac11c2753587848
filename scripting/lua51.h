// Lua 5.1 on Lua 5.4: scripts are written for 5.1, whose numbers are all doubles and whose libraries had other names.
//
// Numbers: the linker puts functions of ours before a few inside Lua (lua51_numbers.cc), so that numerals, numbers read
// from text and the results of libraries are doubles, and every number looks as 5.1 writes it. Integers remain where
// nobody sees them: lengths and the keys of tables.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite {

// Opens base, table, string, math and coroutine as in 5.1, into the table of globals. What gives access to the world
// outside (files, print, bytecode) is not there.
void OpenLua51(lua_State* lua);

// Starts the sequence that math.random gives, as math.randomseed does. Redis 7.2 does not do so between scripts: one
// sequence goes through all of them.
void SeedRandom(lua_State* lua, int32_t seed);

// Whoever lets scripts run in a state, and may end them.
class ThreadObserver {
 public:
  virtual ~ThreadObserver() = default;
  // A coroutine is about to be resumed by this thread. May raise an error of Lua.
  virtual void BeforeResume(lua_State* lua) = 0;
  // From now on this thread computes: a coroutine that is resumed, or whoever resumed it.
  virtual void OnSwitch(lua_State* thread) noexcept = 0;
  // The script has been ended: whoever catches an error has to raise it again, whatever it is.
  virtual bool MustEnd(lua_State* lua) noexcept = 0;
};

// `observer` must outlive what runs in the state.
void ObserveThreads(lua_State* lua, ThreadObserver* observer);

// The source text as 5.4 has to see it to read it as 5.1 does: escape sequences that 5.1 does not know stand for the
// character behind the backslash, a function with `...` that uses the table `arg` gets one, and what looks like
// bytecode becomes text. Lines keep their numbers. Cost: O(n).
std::string AdaptSource(Bytes source);

}  // namespace respite
