// The distribution's LuaBitOp, the library that Redis brings too. Compiled as C, it lets Lua's errors pass: they are
// exceptions, and C code on x86-64 and ARM comes with the tables to unwind it; it holds nothing that would leak.
#include "scripting/libraries.h"

extern "C" int luaopen_bit(lua_State* lua);

namespace respite {

int OpenBit(lua_State* lua) { return luaopen_bit(lua); }

}  // namespace respite
