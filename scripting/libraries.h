// The libraries that scripts find as globals, in addition to Lua's own. Each function opens one library: it pushes the
// library's table and returns 1, as lua_CFunction requires. All are safe for untrusted scripts.
#pragma once

#include "scripting/lua_api.h"

namespace respite {

// JSON, compatible with lua-cjson 2.1, which Redis contains.
int OpenCjson(lua_State* lua);
// MessagePack: pack, unpack, unpack_one, unpack_limit.
int OpenCmsgpack(lua_State* lua);
// Bit operations on 32-bit numbers (LuaBitOp).
int OpenBit(lua_State* lua);
// C structures: pack, unpack, size.
int OpenStruct(lua_State* lua);

}  // namespace respite
