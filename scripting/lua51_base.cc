#include "scripting/lua51.h"

namespace respite {

void OpenLua51(lua_State* lua) {
  luaL_requiref(lua, LUA_GNAME, luaopen_base, 1);
  lua_pop(lua, 1);
}

}  // namespace respite
