// Checks that the linked Lua calls each wrapper of scripting/lua51_*.cc; docs/design/scripting.md explains them. For
// each wrapped function (but luaS_remove, luaS_eqlngstr and strcoll, which give the same results) there is a program
// that gives another result if Lua's own function runs. The check is part of the build, because a release of Lua may
// inline a function or call a different one.
#include <cstdio>
#include <string>

#include "scripting/lua51.h"

namespace {

struct Probe {
  const char* function;
  const char* program;
  const char* result;
};

// Returns "true" for 2 as a double. As an integer, 2 squared six times is 0.
constexpr char kIsDouble[] =
    "local function is_double(two) local n = two for i = 1, 6 do n = n * n end return tostring(n > two) end ";

constexpr Probe kProbes[] = {
    {"lua_pushinteger", "return is_double(select('#', 'a', 'b'))", "true"},
    {"lua_tointegerx", "return (select(1.5, 'a', 'b'))", "a"},
    {"luaK_finish", "local a, b = 1, 0.1 return (a % b) + (a % 0.1)", "0"},
    // Both operands are constants, so the compiler computes this. It would leave a division by 0 to the interpreter,
    // and then the remainder as well.
    {"luaV_modf", "local r = 5 % 1e999 return tostring(r ~= r)", "true"},
    {"luaO_str2num", "return is_double(2)", "true"},
    {"luaO_tostring", "return 3 .. ''", "3"},
    {"luaT_gettm", "return #setmetatable({1, 2, 3}, {__len = function() return 9 end})", "3"},
    {"luaT_gettm",
     "local t = setmetatable({}, {__mode = 'k'}) t[{}] = 1 collectgarbage() return tostring(next(t) ~= nil)", "true"},
    {"luaT_gettm",  // a long string
     "local t = setmetatable({}, {__mode = ('k'):rep(50)}) t[{}] = 1 collectgarbage() return tostring(next(t) ~= nil)",
     "true"},
    {"luaT_gettm",
     "local t = setmetatable({}, {__mode = 'kv'}) t[{}] = 1 collectgarbage() return tostring(next(t) ~= nil)", "false"},
    {"luaC_checkfinalizer",
     "local ran = 'no' do setmetatable({}, {__gc = function() ran = 'yes' end}) end collectgarbage() return ran", "no"},
    {"luaT_gettmbyobj",
     "local t = setmetatable({}, {__call = setmetatable({}, {__call = print})}) return tostring((pcall(t)))", "false"},
    {"luaF_newtbcupval",
     "local closed = 'kept' do local x <close> = setmetatable({}, {__close = function() closed = 'closed' end}) end "
     "return closed",
     "kept"},
    {"luaO_chunkid", "local _, e = pcall(loadstring('error(1)', '@' .. ('a'):rep(80))) return #e", "60"},
    {"luaG_addinfo", "local _, e = loadstring('x', '@' .. ('a'):rep(75)) return #e", "104"},
    {"luaH_next", "for k in pairs({nil, 5}) do return is_double(k) end", "true"},
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
    {"luaH_finishset",
     "local t = {} return tostring((pcall(function() for i = 1, 2 ^ 16 + 1 do t[i * (2 ^ 17 - 1)] = i end end)))",
     "false"},
    {"luaH_set",
     "local t = {} return tostring((pcall(function() for i = 1, 2 ^ 16 + 1 do rawset(t, i * (2 ^ 17 - 1), i) end "
     "end)))",
     "false"},
    {"luaH_setint",
     "local t = {} for i = 1, 2 ^ 16 do t[-i * (2 ^ 17 - 1)] = i end return tostring((pcall(table.insert, t, 7, 1)))",
     "false"},
    {"luaH_resizearray",
     "local keys = {} for i = 1, 33000 do keys[i] = '[g()]=1' end "
     "local make = loadstring('local g, f = ... return {' .. table.concat(keys, ',') .. ', f()}') local i = 0 "
     "return tostring((pcall(make, function() i = i + 65535 return i end, function() return 1, 2 end)))",
     "false"},
    {"luaK_prefix", "return is_double(#'ab')", "true"},
};

std::string Run(const char* program) {
  lua_State* lua = luaL_newstate();
  respite::OpenLua51(lua);
  const bool has_run =
      luaL_loadstring(lua, (kIsDouble + std::string(program)).c_str()) == LUA_OK && lua_pcall(lua, 0, 1, 0) == LUA_OK;
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
    ++failures;
    std::fprintf(stderr, "%s: gives \"%s\" instead of \"%s\": %s\n", probe.function, result.c_str(), probe.result,
                 probe.program);
  }
  if (failures == 0) return 0;
  std::fprintf(
      stderr,
      "This Lua (%s) does not call the wrappers of these functions (docs/design/scripting.md), so scripts written for "
      "Lua 5.1 would run differently. Lua %s are tested.\n",
      LUA_RELEASE, RESPITE_LUA_TESTED);
  return 1;
}
