// Lua 5.1 on Lua 5.4. Scripts are written for 5.1, where all numbers are doubles and some functions have other names.
//
// The linker replaces a few functions inside Lua (lua51_numbers.cc). So numerals, numbers read from text and the
// results of libraries are doubles, and every number prints as in 5.1. Integers remain only where scripts cannot see
// them, for example in the keys that a table stores.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "scripting/lib_support.h"
#include "scripting/lua_api.h"

namespace respite {

// The libraries are base, table, string, math and coroutine, in the table of globals. Functions that read files or
// print are omitted. string.dump always raises an error.
void OpenLua51(lua_State* lua);  // adds the standard libraries, as in Lua 5.1

// For tests. The server does not call SeedRandom: as in Redis 7.2, all scripts share one sequence of random numbers.
void SeedRandom(lua_State* lua, int32_t seed);  // restarts math.random with this seed, as math.randomseed does

// The owner of a Lua state implements this interface if the owner may end scripts that run in the state.
class CoroutineObserver {  // an interface that is told when a script changes to another coroutine
 public:
  virtual ~CoroutineObserver() = default;
  virtual void BeforeResume(lua_State* lua) = 0;  // called when a script resumes a coroutine; may raise an error
  virtual void OnSwitch(lua_State* thread) noexcept = 0;  // called when `thread` (coroutine or resumer) starts to run
  // Code that has caught an error must raise the error again if MustEnd returns true.
  virtual bool MustEnd(lua_State* lua) noexcept = 0;  // true: the script was ended, so no code may catch its error
};

void SetCoroutineObserver(lua_State* lua, CoroutineObserver* observer);  // told when coroutines run; null: none

// Adapts these differences: an unknown escape sequence becomes the character after the backslash. A function with `...`
// that uses the name `arg` but not `...` gets the table `arg`. Bytecode gets a space before it, so Lua reads it as
// malformed text. Line numbers stay the same. While a long text is adapted, the hook of the script is called and may
// end the script.
class AdaptedSource {  // source text of Lua 5.1, rewritten so that Lua 5.4 reads it as 5.1 does
 public:
  // `source` must outlive the AdaptedSource. Raises an error if the memory limit does not allow a copy. Cost: O(n);
  // copies nothing if no change is necessary.
  AdaptedSource(lua_State* lua, Bytes source);
  Bytes View() const { return view_; }  // the text for the compiler

 private:
  LuaBuffer text_;             // the changed text; empty: no change was necessary
  LuaBuffer with_arg_tables_;  // text_ with the table `arg` added to functions that need it; empty: none does
  Bytes view_;                 // the text for the compiler
};

// Loads source text of 5.1 as lua_load does, but refuses bytecode. Returns the status of Lua (LUA_OK …). `chunk` is the
// name of the source in errors. May call the hook of the script, which may end the script.
int LoadSource(lua_State* lua, Bytes source, const char* chunk);  // compiles, and pushes the function or the error

// Functions for the files that implement the libraries of 5.1 (lua51_*.cc): the argument rules of 5.1, and the parts of
// which OpenLua51 consists. Lua is compiled as C++, so a Lua error leaves these functions as a C++ exception.
namespace lua51 {

// The maximum length of a text that counts as a number. The conversion of a text cannot be interrupted, and a library
// may convert the same text thousands of times.
inline constexpr size_t kMaxNumeralBytes = 4096;

inline int CheckInt(lua_State* lua, int argument) {  // the low 32 bits of a number argument, without its fraction
  return static_cast<int>(luaL_checkinteger(lua, argument));
}

inline int OptionalInt(lua_State* lua, int argument, int otherwise) {  // an int argument, or `otherwise` if absent
  return lua_isnoneornil(lua, argument) ? otherwise : CheckInt(lua, argument);
}

inline Bytes CheckBytes(lua_State* lua, int argument) {  // a string or number argument as text; other types: error
  size_t size = 0;
  const char* text = luaL_checklstring(lua, argument, &size);
  return {text, size};
}

inline int RawSize(lua_State* lua, int index) {  // length of a table, ignoring its metatable
  return static_cast<int>(lua_rawlen(lua, index));
}

CoroutineObserver* ObserverOf(lua_State* lua);  // the observer that SetCoroutineObserver has set, or null
void ReraiseIfScriptEnded(lua_State* lua);      // raises a caught error again if the script was ended

int GetEnvironment(lua_State* lua);  // implements the global function getfenv
int SetEnvironment(lua_State* lua);  // implements the global function setfenv

// PushEnvironment and ReplaceEnvironment never raise an error. If the function uses no globals, it has no environment:
// PushEnvironment then pushes nil, and ReplaceEnvironment pops the value and does nothing else.
void PushEnvironment(lua_State* lua, int index);     // pushes the environment of the function at `index`
void ReplaceEnvironment(lua_State* lua, int index);  // pops the environment, and sets it for the function at `index`

int Format(lua_State* lua);  // implements string.format

// Each function adds one library. AddBaseLibrary adds functions to the table of globals; each other function adds a
// global table.
void AddBaseLibrary(lua_State* lua);       // adds pcall, tonumber … to the globals
void AddCoroutineLibrary(lua_State* lua);  // adds the global table `coroutine`
void AddStringLibrary(lua_State* lua);     // adds the global table `string`
void AddTableLibrary(lua_State* lua);      // adds the global table `table`
void AddMathLibrary(lua_State* lua);       // adds the global table `math`

}  // namespace lua51

}  // namespace respite
