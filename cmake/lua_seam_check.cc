// Shows that the Lua which is linked calls each function of scripting/lua51_*.cc that the linker puts before one of its
// own (cmake/Lua.cmake): each program gives another result where it does not. Part of the build, since a release of Lua
// may call something else, or inline it.
#include <cstdio>
#include <string>

#include "scripting/lua51.h"

namespace {

struct Probe {
  const char* function;
  const char* program;
  const char* result;
  const char* otherwise = nullptr;  // what is different where it fails and scripts can live with it
};

// In Lua 5.1 (and with doubles) a remainder by 0 is no error, but a number that does not equal itself.
constexpr Probe kProbes[] = {
    {"lua_pushinteger", "return pcall(function() return select('#', 1) % select('#') end)", "true"},
    {"lua_tointegerx", "return (select(1.5, 'a', 'b'))", "a"},
    // Debian 13 compiles Lua so that a call of fmod is instructions of the processor.
    {"fmod", "local a, b = 1, 0.1 return a % b", "0", "the operator % rounds as in Lua 5.4, not as in 5.1 (1 % 0.1)"},
    {"luaO_str2num", "local a, b = 1, 0 local c = a % b return tostring(c == c)", "false"},
    {"luaO_tostring", "return 3 .. ''", "3"},
    {"luaT_gettm", "return #setmetatable({1, 2, 3}, {__len = function() return 9 end})", "3"},
    {"luaC_checkfinalizer",
     "local ran = 'no' do setmetatable({}, {__gc = function() ran = 'yes' end}) end collectgarbage() return ran", "no"},
    {"luaO_chunkid", "local _, e = pcall(loadstring('error(1)', '@' .. ('a'):rep(80))) return #e", "60"},
    {"luaG_addinfo", "local _, e = loadstring('x', '@' .. ('a'):rep(75)) return #e", "104"},
    {"luaH_next", "for k in pairs({5}) do local r = k % (k - k) return tostring(r == r) end", "false"},
    {"luaT_trybinTM", "local a, b = '10', 5 return a + b", "15"},
    {"luaT_trybinassocTM", "local a = '10' return a * 5", "50"},
    {"luaG_opinterror",
     "local s, t = '3', {} local _, e = pcall(function() return s + t end) return e:match('%b() *$')",
     "(a table value)"},
    {"luaO_pushvfstring", "local _, e = pcall(function() local x x() end) return e:match('call .*')",
     "call local 'x' (a nil value)"},
    {"luaO_pushfstring", "local _, e = loadstring('x =') return e:match('near .*')", "near '<eof>'"},
    {"luaS_hash",
     "local order, names = '', {} for name in ('abcdefghijklmnop'):gmatch('.') do names[name] = 1 end "
     "for name in pairs(names) do order = order .. name end return order",
     "apcbedgfihkjmlon"},
    {"luaK_prefix", "return pcall(function() return #'' % #'' end)", "true"},
};

std::string Run(const char* program) {
  lua_State* lua = luaL_newstate();
  respite::OpenLua51(lua);
  const bool has_run = luaL_loadstring(lua, program) == LUA_OK && lua_pcall(lua, 0, 1, 0) == LUA_OK;
  std::string result = (has_run ? "" : "error: ") + std::string(luaL_tolstring(lua, -1, nullptr));
  lua_close(lua);
  return result;
}

}  // namespace

int main() {
  int failures = 0;
  for (const Probe& probe : kProbes) {
    const std::string result = Run(probe.program);
    if (result == probe.result) continue;
    if (probe.otherwise != nullptr) {
      std::fprintf(stderr, "With this Lua (%s) %s.\n", LUA_RELEASE, probe.otherwise);
      continue;
    }
    ++failures;
    std::fprintf(stderr, "%s: gives \"%s\" instead of \"%s\": %s\n", probe.function, result.c_str(), probe.result,
                 probe.program);
  }
  if (failures == 0) return 0;
  std::fprintf(
      stderr,
      "This Lua (%s) does not call what stands before these functions (cmake/Lua.cmake), so scripts written for "
      "Lua 5.1 would not run as they should. Lua 5.4.4 to 5.4.7 are known to work.\n",
      LUA_RELEASE);
  return 1;
}
