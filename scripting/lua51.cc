#include "scripting/lua51.h"

#include "scripting/lua51_internals.h"

namespace respite {

// Sets the seed of Lua's hash of texts to 0, so that `pairs` and `next` visit most tables in the order of 5.1, which
// has no seed. Lua 5.4 takes the seed from the time and addresses, so the order would differ between processes. With
// seed 0, texts of up to 31 bytes have the same hash as in 5.1, and most tables have the same order.
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
