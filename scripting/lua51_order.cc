// The order in which `pairs` and `next` go through a table: Lua 5.4 mixes the hash of texts with a seed that it makes
// of the time and of addresses, so that no two processes have the same order. 5.1 has no seed. Without it the hash of
// texts of up to 31 octets is the same function as in 5.1, and most tables have the same order, too.
#include "scripting/lua51_internals.h"

namespace respite::lua51 {

extern "C" {
[[gnu::used]] unsigned MakeSeed(const char* text, size_t size, unsigned seed) asm("__wrap__Z9luaS_hashPKcmj");
}

// Whoever needs the hash of a text calls the function from within its object file. What comes from another one is the
// making of a seed.
unsigned MakeSeed(const char*, size_t, unsigned) { return 0; }

}  // namespace respite::lua51
