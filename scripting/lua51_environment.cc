// getfenv and setfenv. The environment of a function in 5.1 corresponds to its upvalue `_ENV` in 5.4. A function shares
// this upvalue with the enclosing function, so setfenv gives it an `_ENV` of its own. A function that uses no globals
// has no `_ENV`: setfenv does not change it, and getfenv returns the globals.
#include <cstring>

#include "scripting/lua51.h"

namespace respite::lua51 {
namespace {

constexpr const char* kEnvironmentName = "_ENV";

// Returns the index of the upvalue `_ENV` of a function, or 0 if it has none.
int EnvironmentUpvalue(lua_State* lua, int function = -1) {
  for (int upvalue = 1;; upvalue++) {
    const char* name = lua_getupvalue(lua, function, upvalue);
    if (name == nullptr) return 0;
    lua_pop(lua, 1);
    if (std::strcmp(name, kEnvironmentName) == 0) return upvalue;
  }
}

// Pushes the function that the first argument names: the function itself, or the one at a stack level.
void PushFunction(lua_State* lua, int level) {
  if (lua_isfunction(lua, 1)) return lua_pushvalue(lua, 1);
  luaL_argcheck(lua, level >= 0, 1, "level must be non-negative");
  lua_Debug caller{};
  if (lua_getstack(lua, level, &caller) == 0) luaL_argerror(lua, 1, "invalid level");
  lua_getinfo(lua, "f", &caller);
  if (lua_isnil(lua, -1)) luaL_error(lua, "no function environment for tail call at level %d", level);
}

// Makes the table at stack index 2 the environment of the function on top of the stack. `upvalue` is the number of the
// function's upvalue _ENV. Gives the function an _ENV of its own, so that no other function gets the new environment.
void SetUpvalue(lua_State* lua, int upvalue) {
  if (luaL_loadbufferx(lua, "", 0, "=setfenv", "t") != LUA_OK) lua_error(lua);  // out of memory
  lua_pushvalue(lua, 2);
  lua_setupvalue(lua, -2, 1);
  lua_upvaluejoin(lua, -2, upvalue, -1, 1);
  lua_pop(lua, 1);
}

}  // namespace

void PushEnvironment(lua_State* lua, int index) {
  const int upvalue = EnvironmentUpvalue(lua, index);
  upvalue == 0 ? lua_pushnil(lua) : static_cast<void>(lua_getupvalue(lua, index, upvalue));
}

void ReplaceEnvironment(lua_State* lua, int index) {
  const int function = lua_absindex(lua, index);
  const int upvalue = EnvironmentUpvalue(lua, function);
  upvalue == 0 ? lua_pop(lua, 1) : static_cast<void>(lua_setupvalue(lua, function, upvalue));
}

int GetEnvironment(lua_State* lua) {
  const int level = lua_isfunction(lua, 1) ? 1 : OptionalInt(lua, 1, 1);
  if (level == 0) return lua_pushglobaltable(lua), 1;
  PushFunction(lua, level);
  const int upvalue = lua_iscfunction(lua, -1) ? 0 : EnvironmentUpvalue(lua);
  if (upvalue == 0) return lua_pushglobaltable(lua), 1;
  lua_getupvalue(lua, -1, upvalue);
  return 1;
}

int SetEnvironment(lua_State* lua) {
  luaL_checktype(lua, 2, LUA_TTABLE);
  const int level = lua_isfunction(lua, 1) ? 1 : CheckInt(lua, 1);
  if (level != 0) PushFunction(lua, level);
  // Level 0 would replace the globals of the running thread. Redis allows this; here it is refused, so that no script
  // affects another. As in Redis, C functions cannot get another environment.
  if (level == 0 || lua_iscfunction(lua, -1)) {
    return luaL_error(lua, "'setfenv' cannot change environment of given object");
  }
  const int upvalue = EnvironmentUpvalue(lua);
  if (upvalue != 0) SetUpvalue(lua, upvalue);
  return 1;
}

}  // namespace respite::lua51
