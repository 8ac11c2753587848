// Any text as JSON gives a value or an error. A value that can be encoded reads back, and encodes to the same length
// again. (Numbers lose digits and arrays lose trailing nulls the first time only.)
#include <cstdint>
#include <cstdlib>

#include "scripting/lib_support.h"
#include "tests/fuzz/lua_state.h"

namespace respite {
namespace {

bool Call(FuzzedLibrary& library, const char* name, int argument) {
  lua_State* lua = library.Lua();
  library.PushFunction(name);
  lua_pushvalue(lua, argument);
  return lua_pcall(lua, 1, 1, 0) == LUA_OK;
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  FuzzedLibrary library(OpenCjson);
  lua_State* lua = library.Lua();
  library.Push({reinterpret_cast<const char*>(data), size});
  if (!Call(library, "decode", 1) || !Call(library, "encode", 2)) return 0;
  if (!Call(library, "decode", 3) || !Call(library, "encode", 4)) std::abort();
  if (lua_rawlen(lua, 3) != lua_rawlen(lua, 5)) std::abort();
  return 0;
}
