#include "scripting/lua51.h"

#include "scripting/lua51_internals.h"

namespace respite {

void OpenLua51(lua_State* lua) {
  lua51::AddBaseLibrary(lua);
  lua51::AddCoroutineLibrary(lua);
  lua51::AddStringLibrary(lua);
  lua51::AddTableLibrary(lua);
  lua51::AddMathLibrary(lua);
}

}  // namespace respite
