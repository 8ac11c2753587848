// A Lua state for fuzz targets that call one function with a text from the fuzzer.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite {

class FuzzedLibrary {
 public:
  explicit FuzzedLibrary(lua_CFunction open) : lua_(luaL_newstate(), lua_close) {
    lua_pushcfunction(Lua(), open);
    lua_call(Lua(), 0, 1);
    lua_setglobal(Lua(), "library");
  }

  lua_State* Lua() { return lua_.get(); }

  // Pushes a function of the library.
  void PushFunction(const char* name) {
    lua_getglobal(Lua(), "library");
    lua_getfield(Lua(), -1, name);
    lua_remove(Lua(), -2);
  }

  void Push(Bytes text) { lua_pushlstring(Lua(), text.data(), text.size()); }

 private:
  std::unique_ptr<lua_State, void (*)(lua_State*)> lua_;
};

}  // namespace respite
