// coroutine, from 5.4, without what came after 5.1.
#include "scripting/lua51_support.h"

namespace respite::lua51 {
namespace {

int Create(lua_State* lua) {
  luaL_argcheck(lua, lua_isfunction(lua, 1), 1, "Lua function expected");
  lua_State* thread = lua_newthread(lua);
  lua_pushvalue(lua, 1);
  lua_xmove(lua, thread, 1);
  return 1;
}

// Nothing for the main program, which is no coroutine.
int Running(lua_State* lua) {
  if (lua_pushthread(lua)) lua_pushnil(lua);
  return 1;
}

}  // namespace

void OpenCoroutine(lua_State* lua) {
  luaopen_coroutine(lua);
  for (const char* name : {"close", "isyieldable"}) {
    lua_pushnil(lua);
    lua_setfield(lua, -2, name);
  }
  constexpr luaL_Reg kFunctions[] = {{"create", Create}, {"running", Running}, {nullptr, nullptr}};
  luaL_setfuncs(lua, kFunctions, 0);
  lua_setglobal(lua, "coroutine");
}

}  // namespace respite::lua51
