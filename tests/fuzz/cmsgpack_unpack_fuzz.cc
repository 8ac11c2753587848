// Any bytes as MessagePack, with an offset and a limit from the first two bytes. An unpacked value can be packed, and
// unpacks again.
#include <cstdint>
#include <cstdlib>

#include "scripting/lib_support.h"
#include "tests/fuzz/lua_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  constexpr size_t kChoices = 2;
  if (size < kChoices) return 0;
  FuzzedLibrary library(OpenCmsgpack);
  lua_State* lua = library.Lua();
  library.PushFunction("unpack_limit");
  library.Push({reinterpret_cast<const char*>(data) + kChoices, size - kChoices});
  lua_pushnumber(lua, static_cast<int8_t>(data[0]));
  lua_pushnumber(lua, static_cast<int8_t>(data[1]));
  if (lua_pcall(lua, 3, LUA_MULTRET, 0) != LUA_OK || lua_gettop(lua) == 0) return 0;

  library.PushFunction("pack");
  lua_insert(lua, 1);
  if (lua_pcall(lua, lua_gettop(lua) - 1, 1, 0) != LUA_OK) return 0;
  library.PushFunction("unpack");
  lua_pushvalue(lua, 1);
  if (lua_pcall(lua, 1, LUA_MULTRET, 0) == LUA_OK) return 0;
  // Tables that nest too deep are packed as nil, which cannot be a key.
  if (lua_tostring(lua, -1) != Bytes("table index is nil")) std::abort();
  return 0;
}
