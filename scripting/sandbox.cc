#include "scripting/sandbox.h"

#include <string>
#include <vector>

namespace respite {

namespace {

// The address of this constant is the key of the real table in the metatable of a read-only proxy.
const char kRealKey = 0;

int RefuseChange(lua_State* lua) { return luaL_error(lua, "Attempt to modify a readonly table"); }

int RefuseUnknown(lua_State* lua) {
  return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'",
                    luaL_tolstring(lua, 2, nullptr));
}

int RawSet(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_checkany(lua, 2);
  luaL_checkany(lua, 3);
  if (IsReadOnly(lua, 1)) return RefuseRawChange(lua);
  lua_settop(lua, 3);
  lua_rawset(lua, 1);
  return 1;
}

int RawGet(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_checkany(lua, 2);
  lua_settop(lua, 2);
  if (PushReal(lua, 1)) lua_replace(lua, 1);
  lua_rawget(lua, 1);
  return 1;
}

int Next(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_settop(lua, 2);
  if (PushReal(lua, 1)) lua_replace(lua, 1);
  if (lua_next(lua, 1) != 0) return 2;
  lua_pushnil(lua);
  return 1;
}

// The function `pairs` for scripts. Its upvalue is the function `next` (Next).
int Pairs(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_pushvalue(lua, 1);
  lua_pushnil(lua);
  return 3;
}

int GetMetatable(lua_State* lua) {
  luaL_checkany(lua, 1);
  if (lua_getmetatable(lua, 1) == 0) return luaL_pushfail(lua), 1;
  if (luaL_getmetafield(lua, 1, "__metatable") == LUA_TNIL && IsReadOnly(lua, 1)) lua_pushnil(lua);
  return 1;
}

int SetMetatable(lua_State* lua) {
  const int type = lua_type(lua, 2);
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_argcheck(lua, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table expected");
  if (IsReadOnly(lua, 1)) return RefuseRawChange(lua);
  if (luaL_getmetafield(lua, 1, "__metatable") != LUA_TNIL)
    return luaL_error(lua, "cannot change a protected metatable");
  lua_settop(lua, 2);
  lua_setmetatable(lua, 1);
  return 1;
}

void ReplaceFunctions(lua_State* lua) {
  constexpr luaL_Reg kRawFunctions[] = {{"rawset", RawSet},
                                        {"rawget", RawGet},
                                        {"next", Next},
                                        {"getmetatable", GetMetatable},
                                        {"setmetatable", SetMetatable},
                                        {nullptr, nullptr}};
  luaL_setfuncs(lua, kRawFunctions, 0);
  lua_getfield(lua, -1, "next");
  lua_pushcclosure(lua, Pairs, 1);
  lua_setfield(lua, -2, "pairs");
}

// Replaces the table on top by a read-only proxy. A table with several names gets a single proxy: `known` is the stack
// index of a table that maps each table to its proxy.
void MakeReadOnlyOnce(lua_State* lua, int known) {
  lua_pushvalue(lua, -1);
  if (lua_rawget(lua, known) == LUA_TNIL) {
    lua_pop(lua, 1);
    lua_pushvalue(lua, -1);
    lua_pushvalue(lua, -1);
    MakeReadOnly(lua);
    lua_rawset(lua, known);
    lua_pushvalue(lua, -1);
    lua_rawget(lua, known);
  }
  lua_remove(lua, -2);
}

// Protects the metatable that all strings share: getmetatable("") then returns a read-only copy.
void ProtectStrings(lua_State* lua) {
  lua_pushliteral(lua, "");
  if (lua_getmetatable(lua, -1) != 0) {
    lua_newtable(lua);
    lua_getglobal(lua, "string");
    lua_setfield(lua, -2, "__index");
    MakeReadOnly(lua);
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
}

// Lets scripts read the metatable of the globals, as in Redis. Requires: the read-only proxy of the globals is on top.
void ShowMetatable(lua_State* lua) {
  lua_getmetatable(lua, -1);
  lua_createtable(lua, 0, 1);
  lua_pushcfunction(lua, RefuseUnknown);
  lua_setfield(lua, -2, "__index");
  MakeReadOnly(lua);
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 1);
}

}  // namespace

int RefuseRawChange(lua_State* lua) {
  lua_pushliteral(lua, "Attempt to modify a readonly table");
  return lua_error(lua);
}

bool PushReal(lua_State* lua, int index) {
  if (lua_getmetatable(lua, index) == 0) return false;
  if (lua_rawgetp(lua, -1, &kRealKey) != LUA_TTABLE) {
    lua_pop(lua, 2);
    return false;
  }
  lua_remove(lua, -2);
  return true;
}

bool IsReadOnly(lua_State* lua, int index) {
  if (!PushReal(lua, index)) return false;
  lua_pop(lua, 1);
  return true;
}

void MakeReadOnly(lua_State* lua) {
  lua_newtable(lua);
  lua_createtable(lua, 0, 3);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, RefuseChange);
  lua_setfield(lua, -2, "__newindex");
  lua_pushvalue(lua, -3);
  lua_rawsetp(lua, -2, &kRealKey);
  lua_setmetatable(lua, -2);
  lua_remove(lua, -2);
}

int ProtectGlobals(lua_State* lua) {
  lua_pushglobaltable(lua);
  ReplaceFunctions(lua);
  std::vector<std::string> libraries;
  for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
    if (lua_istable(lua, -1) && lua_rawequal(lua, -1, -3) == 0) libraries.emplace_back(lua_tostring(lua, -2));
  }
  lua_newtable(lua);
  for (const std::string& library : libraries) {
    lua_getfield(lua, -2, library.c_str());
    MakeReadOnlyOnce(lua, lua_gettop(lua) - 1);
    lua_setfield(lua, -3, library.c_str());
  }
  lua_pop(lua, 1);
  ProtectStrings(lua);
  RefuseUnknownNames(lua);
  lua_pushvalue(lua, -1);
  MakeReadOnly(lua);
  ShowMetatable(lua);
  lua_pushvalue(lua, -1);
  lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_setfield(lua, -2, "_G");
  return luaL_ref(lua, LUA_REGISTRYINDEX);
}

void RefuseUnknownNames(lua_State* lua) {
  lua_createtable(lua, 0, 1);
  lua_pushcfunction(lua, RefuseUnknown);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
}

void ShowInsteadOfGlobals(lua_State* lua) {
  lua_rawgeti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_getmetatable(lua, -1);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pop(lua, 3);
}

void ShowGlobals(lua_State* lua) {
  lua_rawgeti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  PushReal(lua, -1);
  ShowInsteadOfGlobals(lua);
  lua_pop(lua, 1);
}

}  // namespace respite
