#include "scripting/lua51.h"

#include "scripting/lua51_internals.h"

namespace respite {

void OpenLua51(lua_State* lua) {
  lua51::OpenBase(lua);
  lua51::OpenCoroutine(lua);
  lua51::OpenString(lua);
  lua51::OpenTable(lua);
  lua51::OpenMath(lua);
}

}  // namespace respite
