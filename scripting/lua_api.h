// The C interface of Lua 5.4, in the variant of the library that is compiled as C++: lua_error throws, so destructors
// on its way run. Exceptions of ours must not get into Lua's frames: it would take them for errors of its own.
#pragma once

extern "C" {
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
}

static_assert(LUA_VERSION_NUM == 504);
