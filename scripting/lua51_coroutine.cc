// coroutine as in 5.1.
#include "scripting/lua51.h"

namespace respite::lua51 {
namespace {

// The address of this variable is the registry key of the CoroutineObserver.
const char kObserverKey = 0;

const void* ObserverKey() { return &kObserverKey; }

const char* StatusOf(lua_State* lua, lua_State* thread) {
  if (lua == thread) return "running";
  if (lua_status(thread) == LUA_YIELD) return "suspended";
  if (lua_status(thread) != LUA_OK) return "dead";
  lua_Debug frame;
  if (lua_getstack(thread, 0, &frame) != 0) return "normal";
  return lua_gettop(thread) == 0 ? "dead" : "suspended";
}

lua_State* CheckThread(lua_State* lua) {
  lua_State* thread = lua_tothread(lua, 1);
  luaL_argcheck(lua, thread != nullptr, 1, "coroutine expected");
  return thread;
}

int Create(lua_State* lua) {
  luaL_argcheck(lua, lua_isfunction(lua, 1), 1, "Lua function expected");
  lua_State* thread = lua_newthread(lua);
  lua_pushvalue(lua, 1);
  lua_xmove(lua, thread, 1);
  return 1;
}

struct Resumed {
  bool is_error;
  int results;  // on top of the stack
};

// Resumes `thread`. Requires: the arguments are on top of the stack of `lua`.
Resumed ResumeThread(lua_State* lua, lua_State* thread, int arguments) {
  CoroutineObserver* const observer = ObserverOf(lua);
  if (observer != nullptr) observer->BeforeResume(lua);
  if (!lua_checkstack(thread, arguments)) luaL_error(lua, "too many arguments to resume");
  const Bytes status = StatusOf(lua, thread);
  if (status != "suspended") {
    lua_pushfstring(lua, "cannot resume %s coroutine", status.data());
    return {true, 1};
  }
  lua_xmove(lua, thread, arguments);
  if (observer != nullptr) observer->OnSwitch(thread);
  int results = 0;
  const int outcome = lua_resume(thread, lua, arguments, &results);
  if (observer != nullptr) observer->OnSwitch(lua);
  const bool is_error = outcome != LUA_OK && outcome != LUA_YIELD;
  if (is_error) results = 1;
  if (!lua_checkstack(lua, results + 1)) luaL_error(lua, "too many results to resume");
  lua_xmove(thread, lua, results);
  if (is_error) ReraiseIfScriptEnded(lua);
  return {is_error, results};
}

int Resume(lua_State* lua) {
  lua_State* thread = CheckThread(lua);
  const Resumed resumed = ResumeThread(lua, thread, lua_gettop(lua) - 1);
  lua_pushboolean(lua, !resumed.is_error);
  lua_insert(lua, -resumed.results - 1);
  return resumed.results + 1;
}

// Runs the function that coroutine.wrap has returned. Upvalue 1 is the coroutine.
int ResumeWrapped(lua_State* lua) {
  const Resumed resumed = ResumeThread(lua, lua_tothread(lua, lua_upvalueindex(1)), lua_gettop(lua));
  if (!resumed.is_error) return resumed.results;
  if (lua_isstring(lua, -1)) {
    luaL_where(lua, 1);
    lua_insert(lua, -2);
    lua_concat(lua, 2);
  }
  return lua_error(lua);
}

int Wrap(lua_State* lua) {
  Create(lua);
  lua_pushcclosure(lua, ResumeWrapped, 1);
  return 1;
}

int Status(lua_State* lua) {
  lua_State* thread = CheckThread(lua);
  lua_pushstring(lua, StatusOf(lua, thread));
  return 1;
}

// coroutine.running. Returns nil for the main program, which is not a coroutine.
int Running(lua_State* lua) {
  if (lua_pushthread(lua)) lua_pushnil(lua);
  return 1;
}

int Yield(lua_State* lua) { return lua_yield(lua, lua_gettop(lua)); }

constexpr luaL_Reg kCoroutineFunctions[] = {{"create", Create}, {"resume", Resume}, {"running", Running},
                                            {"status", Status}, {"wrap", Wrap},     {"yield", Yield},
                                            {nullptr, nullptr}};

}  // namespace

CoroutineObserver* ObserverOf(lua_State* lua) {
  lua_rawgetp(lua, LUA_REGISTRYINDEX, ObserverKey());
  auto* observer = static_cast<CoroutineObserver*>(lua_touserdata(lua, -1));
  lua_pop(lua, 1);
  return observer;
}

void ReraiseIfScriptEnded(lua_State* lua) {
  CoroutineObserver* const observer = ObserverOf(lua);
  if (observer != nullptr && observer->MustEnd(lua)) lua_error(lua);
}

void AddCoroutineLibrary(lua_State* lua) {
  luaL_newlib(lua, kCoroutineFunctions);
  lua_setglobal(lua, "coroutine");
}

}  // namespace respite::lua51

namespace respite {

void SetCoroutineObserver(lua_State* lua, CoroutineObserver* observer) {
  lua_pushlightuserdata(lua, observer);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, lua51::ObserverKey());
}

}  // namespace respite
