// Lua 5.1 on Lua 5.4. Scripts are written for 5.1, where all numbers are doubles and some libraries have other names.
//
// The linker replaces a few functions inside Lua (lua51_numbers.cc). So numerals, numbers read from text and the
// results of libraries are doubles, and every number prints as in 5.1. Integers remain only where scripts cannot see
// them: lengths and the keys of tables.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "scripting/lib_support.h"
#include "scripting/lua_api.h"

namespace respite {

// Opens base, table, string, math and coroutine as in 5.1, in the table of globals. Omits functions that read files,
// print, or produce bytecode.
void OpenLua51(lua_State* lua);  // sets the globals and libraries of Lua 5.1

// Seeds the sequence of math.random, as math.randomseed does. The server does not call this: as in Redis 7.2, all
// scripts share one sequence.
void SeedRandom(lua_State* lua, int32_t seed);  // starts math.random's sequence

// An interface that the owner of a Lua state implements if it may end scripts that run in the state.
class ThreadObserver {  // an interface that is told when a script switches between coroutines
 public:
  virtual ~ThreadObserver() = default;
  virtual void BeforeResume(lua_State* lua) = 0;  // this thread is about to resume a coroutine; may raise an error
  // Called when `thread` begins to run. It is a coroutine that was resumed, or the thread that had resumed the last
  // coroutine.
  virtual void OnSwitch(lua_State* thread) noexcept = 0;  // `thread` (a coroutine or its resumer) begins to run
  // Returns true if the script has been ended. Then code that catches any error must raise it again.
  virtual bool MustEnd(lua_State* lua) noexcept = 0;  // true: the script was ended, so its errors must not be caught
};

void ObserveThreads(lua_State* lua, ThreadObserver* observer);  // sets the observer; null: none; must outlive the state

// Lua 5.1 source text, changed so that 5.4 reads it as 5.1 does. Unknown escape sequences become the character after
// the backslash, a function with `...` that uses the table `arg` gets one, and bytecode is read as text. Line numbers
// stay the same. While a long text is adapted, the hook of the script is called and may end the script.
class AdaptedSource {  // Lua 5.1 source text, changed so that Lua 5.4 reads it as 5.1 does
 public:
  // `source` must outlive the AdaptedSource. Raises an error if the memory limit does not allow a copy. Cost: O(n);
  // copies nothing if no change is necessary.
  AdaptedSource(lua_State* lua, Bytes source);
  Bytes View() const { return view_; }  // the text for the compiler

 private:
  LuaBuffer text_;             // the changed text; empty: no change was necessary
  LuaBuffer with_arg_tables_;  // text_ with a table `arg` in each function that uses one; empty: no function does
  Bytes view_;                 // the text for the compiler
};

// Loads source text of 5.1 as lua_load does, but refuses bytecode. May call the hook of the script, which may end the
// script.
int LoadSource(lua_State* lua, Bytes source, const char* chunk);  // lua_load for 5.1 text; `chunk`: its name

// Functions for the files that implement the libraries of 5.1 (lua51_*.cc): the argument rules of 5.1, and the parts of
// which OpenLua51 consists. A Lua error is raised as a C++ exception of Lua.
namespace lua51 {

// Returns an argument as a C int. As in 5.1, a value that does not fit loses its upper bits.
inline int CheckInt(lua_State* lua, int argument) {  // a numeric argument as an int; may lose its upper bits
  return static_cast<int>(luaL_checkinteger(lua, argument));
}

inline int OptionalInt(lua_State* lua, int argument, int otherwise) {  // as CheckInt, or `otherwise` if absent
  return lua_isnoneornil(lua, argument) ? otherwise : CheckInt(lua, argument);
}

inline Bytes CheckBytes(lua_State* lua, int argument) {  // the text of an argument; an error unless string or number
  size_t size = 0;
  const char* text = luaL_checklstring(lua, argument, &size);
  return {text, size};
}

inline int RawSize(lua_State* lua, int index) {  // number of elements of a sequence, without metamethods
  return static_cast<int>(lua_rawlen(lua, index));
}

ThreadObserver* ObserverOf(lua_State* lua);  // what ObserveThreads has set; null: none
void ReraiseIfScriptEnded(lua_State* lua);   // after catching an error: raises it again if the script has been ended

int GetEnvironment(lua_State* lua);  // the global getfenv
int SetEnvironment(lua_State* lua);  // the global setfenv

int Format(lua_State* lua);  // the function string.format

// Each function adds one library: OpenBase to the table of globals, the others as a global table.
void OpenBase(lua_State* lua);       // sets pcall, tonumber … as globals
void OpenCoroutine(lua_State* lua);  // sets the global table `coroutine`
void OpenString(lua_State* lua);     // sets the global table `string`
void OpenTable(lua_State* lua);      // sets the global table `table`
void OpenMath(lua_State* lua);       // sets the global table `math`

}  // namespace lua51

}  // namespace respite
