// The C API of Lua 5.4, in the variant of the library that is compiled as C++: lua_error throws, so destructors run.
// Respite's own exceptions must not pass through functions of Lua, because Lua would treat them as Lua errors.
//
// The linkage names of the API vary: some distributions export C names, others C++ names (cmake/Lua.cmake detects
// this).
#pragma once

#if !defined(RESPITE_LUA_HAS_CXX_NAMES)
extern "C" {
#endif
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#if !defined(RESPITE_LUA_HAS_CXX_NAMES)
}
#endif

static_assert(LUA_VERSION_NUM == 504);
