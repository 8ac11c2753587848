// A format up to the first line feed, and any data after it. Unpacked values can be packed again with the same format;
// if the format has a size, unpacking ends there.
#include <cstdint>
#include <cstdlib>

#include "scripting/lib_support.h"
#include "tests/fuzz/lua_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  const Bytes input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\n');
  if (end == Bytes::npos) return 0;
  const Bytes format = input.substr(0, end);
  const Bytes packed = input.substr(end + 1);
  FuzzedLibrary library(OpenStruct);
  lua_State* lua = library.Lua();

  library.PushFunction("size");
  library.Push(format);
  const bool has_size = lua_pcall(lua, 1, 1, 0) == LUA_OK;
  const double expected_end = has_size ? lua_tonumber(lua, -1) + 1 : 0;
  lua_settop(lua, 0);

  library.PushFunction("unpack");
  library.Push(format);
  library.Push(packed);
  if (lua_pcall(lua, 2, LUA_MULTRET, 0) != LUA_OK) return 0;
  if (has_size && lua_tonumber(lua, -1) != expected_end) std::abort();

  library.PushFunction("pack");
  lua_insert(lua, 1);
  library.Push(format);
  lua_insert(lua, 2);
  lua_pcall(lua, lua_gettop(lua) - 1, 1, 0);
  return 0;
}
