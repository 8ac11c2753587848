// The C interface of Lua 5.4, in the variant of the library that is compiled as C++: lua_error throws, so destructors
// on its way run. Exceptions of ours must not get into Lua's frames: it would take them for errors of its own.
//
// What it is called for the linker is another matter: some distributions give the interface names of C, others, since
// they compile it as C++, those of C++ (cmake/Lua.cmake finds out).
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
