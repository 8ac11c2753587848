// Helpers for functions that Lua calls, with the argument rules of 5.1. Lua errors are raised as its C++ exceptions.
#pragma once

#include "base/bytes.h"
#include "scripting/lib_support.h"
#include "scripting/lua51.h"
#include "scripting/lua_api.h"

namespace respite::lua51 {

// Returns an argument as a C int; a value that does not fit loses its upper bits, as in 5.1.
inline int CheckInt(lua_State* lua, int argument) { return static_cast<int>(luaL_checkinteger(lua, argument)); }

inline int OptionalInt(lua_State* lua, int argument, int otherwise) {
  return lua_isnoneornil(lua, argument) ? otherwise : CheckInt(lua, argument);
}

inline Bytes CheckBytes(lua_State* lua, int argument) {
  size_t size = 0;
  const char* text = luaL_checklstring(lua, argument, &size);
  return {text, size};
}

// Returns the number of elements of a sequence, without metamethods.
inline int RawSize(lua_State* lua, int index) { return static_cast<int>(lua_rawlen(lua, index)); }

// Returns null if there is no observer.
ThreadObserver* ObserverOf(lua_State* lua);
// For functions that catch errors: raises the error on top again if the script has been ended.
void PassOnEnd(lua_State* lua);

// getfenv and setfenv.
int GetEnvironment(lua_State* lua);
int SetEnvironment(lua_State* lua);

// string.format.
int Format(lua_State* lua);

// Each function adds one library: OpenBase to the table of globals, the others as a global table.
void OpenBase(lua_State* lua);
void OpenCoroutine(lua_State* lua);
void OpenString(lua_State* lua);
void OpenTable(lua_State* lua);
void OpenMath(lua_State* lua);

}  // namespace respite::lua51
