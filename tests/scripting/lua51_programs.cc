#include "lua51_programs.h"

#include <gtest/gtest.h>

#include "scripting/lua51.h"

namespace respite {

namespace {

constexpr Bytes kShow =
    "local function show(...) local t={} for i=1,select('#',...) do t[i]=tostring((select(i,...))) end "
    "return table.concat(t,'|') end ";

std::string TextOf(lua_State* lua) {
  size_t size = 0;
  const char* text = lua_tolstring(lua, -1, &size);
  return text == nullptr ? luaL_typename(lua, -1) : std::string(text, size);
}

}  // namespace

// The collector does not run by itself, as in ScriptEngine: a finalizer that gets no memory would leak its buffer.
Lua51State::Lua51State() : lua_(memory_.NewState()) {
  OpenLua51(lua_);
  lua_gc(lua_, LUA_GCSTOP);
}

Lua51State::~Lua51State() { lua_close(lua_); }

std::string Lua51State::Run(Bytes source) {
  struct Work {
    std::string text;
  } work{std::string(kShow) + std::string(source)};
  // In a protected call, because there may be too little memory for the source as well.
  lua_pushcfunction(lua_, [](lua_State* lua) {
    const auto& load = *static_cast<Work*>(lua_touserdata(lua, 1));
    if (LoadSource(lua, load.text, "@user_script") != LUA_OK) lua_error(lua);
    lua_call(lua, 0, 1);
    return 1;
  });
  lua_pushlightuserdata(lua_, &work);
  const bool is_ok = lua_pcall(lua_, 1, 1, 0) == LUA_OK;
  memory_.Relent();
  std::string result = (is_ok ? "" : "ERR ") + TextOf(lua_);
  lua_settop(lua_, 0);
  return result;
}

void ExpectResults(const std::vector<Program>& programs) {
  for (const Program& program : programs) {
    EXPECT_EQ(Lua51State().Run(program.source), program.expected) << program.source;
    ExpectToSurviveFailures(program.source);
  }
}

void ExpectToSurviveFailures(Bytes source) {
  constexpr int64_t kManyCalls = 1000;
  Lua51State state;
  state.memory().FailAfter(INT64_MAX);
  state.Run(source);
  const int64_t calls = state.memory().Calls();
  const int64_t points = calls < kManyCalls ? calls : 5;  // all points of a long program take too long
  for (int64_t allowed = 0; allowed <= calls; allowed += 1 + calls / (points + 1)) {
    state.memory().FailAfter(allowed);
    state.Run(source);
  }
  EXPECT_EQ(state.Run("return show(1 + 1, #'abc', ('x'):rep(3))"), "2|3|xxx") << source;
}

}  // namespace respite
