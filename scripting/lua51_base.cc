// The global functions of 5.1. Functions that mean the same in 5.4 are taken from there.
#include <cstdlib>

#include "scripting/lib_support.h"
#include "scripting/lua51.h"

namespace respite::lua51 {
namespace {

// assert. As in 5.1, the message must be a string, and the position is put before the message.
int Assert(lua_State* lua) {
  luaL_checkany(lua, 1);
  if (lua_toboolean(lua, 1)) return lua_gettop(lua);
  return luaL_error(lua, "%s", luaL_optstring(lua, 2, "assertion failed!"));
}

int Error(lua_State* lua) {
  const int level = OptionalInt(lua, 2, 1);
  lua_settop(lua, 1);
  if (lua_isstring(lua, 1) && level > 0) {
    luaL_where(lua, level);
    lua_pushvalue(lua, 1);
    lua_concat(lua, 2);
  }
  return lua_error(lua);
}

int IpairsNext(lua_State* lua) {
  const int index = CheckInt(lua, 2) + 1;
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_pushinteger(lua, index);
  return lua_rawgeti(lua, 1, index) == LUA_TNIL ? 0 : 2;
}

int Ipairs(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_pushvalue(lua, 1);
  lua_pushinteger(lua, 0);
  return 3;
}

int NumberInBase(lua_State* lua, int base) {
  const char* text = luaL_checkstring(lua, 1);
  luaL_argcheck(lua, base >= 2 && base <= 36, 2, "base out of range");
  // Returns nil for a long text, as tonumber without a base does, because SCRIPT KILL cannot interrupt the conversion.
  if (lua_rawlen(lua, 1) > kMaxNumeralBytes) return lua_pushnil(lua), 1;
  char* end = nullptr;
  const unsigned long number = std::strtoul(text, &end, base);
  const bool has_digits = end != text;
  while (IsSpace(*end)) end++;
  if (!has_digits || *end != '\0') return lua_pushnil(lua), 1;
  lua_pushnumber(lua, static_cast<lua_Number>(number));
  return 1;
}

int Tonumber(lua_State* lua) {
  const int base = OptionalInt(lua, 2, 10);
  if (base != 10) return NumberInBase(lua, base);
  luaL_checkany(lua, 1);
  int is_number = 0;
  const lua_Number number = lua_tonumberx(lua, 1, &is_number);
  if (is_number) {
    lua_pushnumber(lua, number);
  } else {
    lua_pushnil(lua);
  }
  return 1;
}

int Tostring(lua_State* lua) {
  luaL_checkany(lua, 1);
  if (luaL_callmeta(lua, 1, "__tostring")) return 1;
  switch (lua_type(lua, 1)) {
    case LUA_TNUMBER:
    case LUA_TSTRING:
      lua_settop(lua, 1);
      lua_tolstring(lua, 1, nullptr);
      return 1;
    case LUA_TBOOLEAN:
      return PushBytes(lua, lua_toboolean(lua, 1) ? "true" : "false"), 1;
    case LUA_TNIL:
      return PushBytes(lua, "nil"), 1;
    default:
      lua_pushfstring(lua, "%s: %p", luaL_typename(lua, 1), lua_topointer(lua, 1));
      return 1;
  }
}

int Unpack(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  const int first = OptionalInt(lua, 2, 1);
  const int last = lua_isnoneornil(lua, 3) ? RawSize(lua, 1) : CheckInt(lua, 3);
  if (first > last) return 0;
  const int64_t count = int64_t{last} - first + 1;
  if (count >= INT_MAX || !lua_checkstack(lua, static_cast<int>(count))) {
    return luaL_error(lua, "too many results to unpack");
  }
  for (int64_t i = first; i <= last; i++) lua_rawgeti(lua, 1, i);
  return static_cast<int>(count);
}

// Returns true if the running error handler was called for an error that a hook raised.
bool IsHookCalling(lua_State* lua) {
  lua_Debug self;
  if (lua_getstack(lua, 0, &self) == 0 || lua_getinfo(lua, "n", &self) == 0) return false;
  return Bytes(self.namewhat) == "hook";
}

// Calls the script's error handler (upvalue 1). Does not call it for an error that ends the script: hooks are off until
// such an error is caught, so nothing could stop a handler that runs long.
int HandleError(lua_State* lua) {
  lua_settop(lua, 1);
  CoroutineObserver* const observer = ObserverOf(lua);
  if (IsHookCalling(lua) || (observer != nullptr && observer->MustEnd(lua))) return 1;
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, 1, 1);
  return 1;
}

int Xpcall(lua_State* lua) {
  luaL_checkany(lua, 2);
  lua_settop(lua, 2);
  lua_pushcclosure(lua, HandleError, 1);
  lua_insert(lua, 1);
  const int status = lua_pcall(lua, 0, LUA_MULTRET, 1);
  if (status != LUA_OK) ReraiseIfScriptEnded(lua);
  lua_pushboolean(lua, status == LUA_OK);
  lua_replace(lua, 1);
  return lua_gettop(lua);
}

// Loads source text, but no bytecode. Pushes the function, or nil and the error message.
int LoadText(lua_State* lua, Bytes text, const char* chunk_name) {
  if (LoadSource(lua, text, chunk_name) == LUA_OK) return 1;
  ReraiseIfScriptEnded(lua);
  lua_pushnil(lua);
  lua_insert(lua, -2);
  return 2;
}

int Loadstring(lua_State* lua) {
  const Bytes text = CheckBytes(lua, 1);
  return LoadText(lua, text, luaL_optstring(lua, 2, text.data()));
}

// Concatenates all texts that the reader function at index 1 returns.
int ReadAll(lua_State* lua) {
  lua_newtable(lua);
  WorkCounter work(lua);
  for (int count = 1;; count++) {
    work.Step();
    lua_pushvalue(lua, 1);
    lua_call(lua, 0, 1);
    const bool is_end = lua_isnil(lua, -1) || (lua_type(lua, -1) == LUA_TSTRING && lua_rawlen(lua, -1) == 0);
    if (is_end) break;
    if (!lua_isstring(lua, -1)) return luaL_error(lua, "reader function must return a string");
    lua_rawseti(lua, 2, count);
  }
  lua_settop(lua, 2);
  luaL_Buffer text;
  luaL_buffinit(lua, &text);
  const int count = RawSize(lua, 2);
  for (int i = 1; i <= count; i++) {
    work.Step();
    lua_rawgeti(lua, 2, i);
    luaL_addvalue(&text);
  }
  luaL_pushresult(&text);
  return 1;
}

int Load(lua_State* lua) {
  const char* chunk_name = luaL_optstring(lua, 2, "=(load)");
  luaL_checktype(lua, 1, LUA_TFUNCTION);
  lua_settop(lua, 2);
  lua_pushcfunction(lua, ReadAll);
  lua_pushvalue(lua, 1);
  if (lua_pcall(lua, 1, 1, 0) != LUA_OK) {
    ReraiseIfScriptEnded(lua);
    lua_pushnil(lua);
    lua_insert(lua, -2);
    return 2;
  }
  return LoadText(lua, CheckBytes(lua, 3), chunk_name);
}

// Collects all garbage. If Lua uses 4 MB or more, runs two cycles of the collector in steps, between which the script
// can be ended. The first cycle may have begun earlier, and does not find what has become garbage since then.
void CollectAll(lua_State* lua) {
  constexpr int kSmallKilobytes = 4096;  // a collection takes some milliseconds
  constexpr int kSmallestStep = 0;       // a larger step also does the work that has accumulated since the last one
  if (lua_gc(lua, LUA_GCCOUNT) < kSmallKilobytes) {
    lua_gc(lua, LUA_GCCOLLECT);
    return;
  }
  WorkCounter work(lua);
  for (int cycles = 0; cycles < 2;) {
    cycles += lua_gc(lua, LUA_GCSTEP, kSmallestStep);
    work.Poll();
  }
}

// collectgarbage. Executes collect, step and count. Ignores stop, restart and the settings of the collector, because
// they would affect other scripts.
int CollectGarbage(lua_State* lua) {
  static const char* const kOptions[] = {"collect", "stop",     "restart",    "count",
                                         "step",    "setpause", "setstepmul", nullptr};
  enum Option { kCollect, kStop, kRestart, kCount, kStep, kSetPause, kSetStepMul };
  constexpr int kUsualPercent = 200;
  const int option = luaL_checkoption(lua, 1, "collect", kOptions);
  const int argument = OptionalInt(lua, 2, 0);
  switch (option) {
    case kCount:
      lua_pushnumber(lua, lua_gc(lua, LUA_GCCOUNT) + lua_gc(lua, LUA_GCCOUNTB) / 1024.0);
      return 1;
    case kStep:
      lua_pushboolean(lua, lua_gc(lua, LUA_GCSTEP, argument));
      return 1;
    case kCollect:
      CollectAll(lua);
      break;
    default:
      break;
  }
  lua_pushinteger(lua, option == kSetPause || option == kSetStepMul ? kUsualPercent : 0);
  return 1;
}

int GcInfo(lua_State* lua) {
  lua_pushinteger(lua, lua_gc(lua, LUA_GCCOUNT));
  return 1;
}

// Pops the metatable on top, and sets it for the value below, without its finalizer: the field __gc is absent while
// lua_setmetatable runs. Lua looks for a finalizer only at this moment, so the finalizer never takes effect.
void SetWithoutFinalizer(lua_State* lua) {
  const int metatable = lua_gettop(lua);
  lua_pushliteral(lua, "__gc");
  lua_pushliteral(lua, "__gc");
  lua_rawget(lua, metatable);
  lua_pushliteral(lua, "__gc");
  lua_pushnil(lua);
  lua_rawset(lua, metatable);
  lua_pushvalue(lua, metatable);
  lua_setmetatable(lua, metatable - 1);
  lua_rawset(lua, metatable);
  lua_pop(lua, 1);
}

// The function newproxy of Lua 5.1. Upvalue 1 is the set of the metatables of all proxies.
int NewProxy(lua_State* lua) {
  lua_settop(lua, 1);
  lua_newuserdatauv(lua, 0, 0);
  if (!lua_toboolean(lua, 1)) return 1;
  if (lua_isboolean(lua, 1)) {
    lua_newtable(lua);
    lua_pushvalue(lua, -1);
    lua_pushboolean(lua, 1);
    lua_rawset(lua, lua_upvalueindex(1));
  } else {
    bool is_proxy = false;
    if (lua_getmetatable(lua, 1)) {
      lua_rawget(lua, lua_upvalueindex(1));
      is_proxy = lua_toboolean(lua, -1);
      lua_pop(lua, 1);
    }
    luaL_argcheck(lua, is_proxy, 1, "boolean or proxy expected");
    lua_getmetatable(lua, 1);
  }
  SetWithoutFinalizer(lua);
  return 1;
}

// Pushes an empty table in which newproxy stores the metatables of the proxies that it makes. Keys and values of the
// table are weak, so that unused metatables can be collected. Weak keys alone would not suffice, because Metamethod
// (lua51_metamethods.cc) ignores them.
void PushProxySet(lua_State* lua) {
  lua_newtable(lua);
  lua_createtable(lua, 0, 1);
  lua_pushliteral(lua, "kv");
  lua_setfield(lua, -2, "__mode");
  lua_setmetatable(lua, -2);
}

// Functions of Lua 5.4 that are removed, because scripts must not see them.
constexpr const char* kHiddenNames[] = {"dofile", "loadfile", "print", "rawlen", "warn"};

constexpr luaL_Reg kBaseFunctions[] = {{"assert", Assert},
                                       {"collectgarbage", CollectGarbage},
                                       {"error", Error},
                                       {"gcinfo", GcInfo},
                                       {"getfenv", GetEnvironment},
                                       {"load", Load},
                                       {"loadstring", Loadstring},
                                       {"setfenv", SetEnvironment},
                                       {"tonumber", Tonumber},
                                       {"tostring", Tostring},
                                       {"unpack", Unpack},
                                       {"xpcall", Xpcall},
                                       {nullptr, nullptr}};

}  // namespace

void AddBaseLibrary(lua_State* lua) {
  luaopen_base(lua);
  for (const char* name : kHiddenNames) {
    lua_pushnil(lua);
    lua_setfield(lua, -2, name);
  }
  luaL_setfuncs(lua, kBaseFunctions, 0);
  lua_pushcfunction(lua, IpairsNext);
  lua_pushcclosure(lua, Ipairs, 1);
  lua_setfield(lua, -2, "ipairs");
  PushProxySet(lua);
  lua_pushcclosure(lua, NewProxy, 1);
  lua_setfield(lua, -2, "newproxy");
  lua_pushliteral(lua, "Lua 5.1");
  lua_setfield(lua, -2, "_VERSION");
  lua_pop(lua, 1);
}

}  // namespace respite::lua51
