#include "scripting/lua51.h"

#include "scripting/lua51_internals.h"

namespace respite {

// Makes `pairs` and `next` visit most tables in the order of 5.1. Lua 5.4 seeds the hash of texts with the time and
// addresses, so no two processes have the same order. 5.1 has no seed. Without a seed, the hash of texts of up to 31
// bytes is the same as in 5.1, and so is the order of most tables.
namespace lua51 {

extern "C" {
[[gnu::used]] unsigned MakeSeed(const char* text, size_t size, unsigned seed) asm("__wrap__Z9luaS_hashPKcmj");
}

// Returns 0 as the seed of Lua's hash. The linker can redirect only calls between object files. The call that creates
// the seed is one; the calls that hash a text are not, so they still reach Lua's function.
unsigned MakeSeed(const char*, size_t, unsigned) { return 0; }

}  // namespace lua51

void OpenLua51(lua_State* lua) {
  lua51::OpenBase(lua);
  lua51::OpenCoroutine(lua);
  lua51::OpenString(lua);
  lua51::OpenTable(lua);
  lua51::OpenMath(lua);
}

}  // namespace respite
