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

Lua51State::Lua51State() : lua_(luaL_newstate()) { OpenLua51(lua_); }

Lua51State::~Lua51State() { lua_close(lua_); }

std::string Lua51State::Run(Bytes source) {
  const std::string text = AdaptSource(std::string(kShow) + std::string(source));
  const bool is_ok =
      luaL_loadbuffer(lua_, text.data(), text.size(), "@user_script") == LUA_OK && lua_pcall(lua_, 0, 1, 0) == LUA_OK;
  std::string result = (is_ok ? "" : "ERR ") + TextOf(lua_);
  lua_settop(lua_, 0);
  return result;
}

void ExpectResults(const std::vector<Program>& programs) {
  for (const Program& program : programs)
    EXPECT_EQ(Lua51State().Run(program.source), program.expected) << program.source;
}

}  // namespace respite
