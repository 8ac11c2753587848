// One test for each function of Lua that the linker wraps (cmake/Lua.cmake). It has the name of the function, and fails
// if Lua's own function runs instead. docs/design/scripting.md says why each one is wrapped.
#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "base/str_cat.h"
#include "lua51_programs.h"
#include "scripting/script_watch.h"

namespace respite {
namespace {

TEST(Lua51Wrapper, lua_pushinteger) {
  Lua51State state;
  lua_pushinteger(state.lua(), 7);
  EXPECT_FALSE(lua_isinteger(state.lua(), -1));
  EXPECT_EQ(lua_tonumber(state.lua(), -1), 7);
  EXPECT_EQ(state.Run("local n = select('#', 'a', 'b') for i = 1, 6 do n = n * n end return n"), "1.844674407371e+19");
}

TEST(Lua51Wrapper, lua_tointegerx) {
  Lua51State state;
  lua_pushnumber(state.lua(), -3.9);
  EXPECT_EQ(lua_tointeger(state.lua(), -1), -3);
  lua_pushliteral(state.lua(), "0x10");
  EXPECT_EQ(lua_tointeger(state.lua(), -1), 16);
  lua_pushnumber(state.lua(), 1e300);
  EXPECT_EQ(lua_tointeger(state.lua(), -1), LUA_MININTEGER);
  EXPECT_EQ(state.Run("return show((select(1.5, 'a', 'b')), ('abc'):sub(2.9), ('x'):rep('2'))"), "a|bc|xx");
}

TEST(Lua51Wrapper, luaO_str2num) {
  ExpectResults({
      {"local n = 2 for i = 1, 6 do n = n * n end return n", "1.844674407371e+19"},
      {"local n = '2' + 0 for i = 1, 6 do n = n * n end return n", "1.844674407371e+19"},
      {"return show(tonumber('inf'), tonumber('0x1p4'), tonumber(' 10 '), tonumber('10a'), 0xffffffffffffffff)",
       "inf|16|10|nil|1.844674407371e+19"},
  });
}

TEST(Lua51Wrapper, luaO_tostring) {
  ExpectResults({
      {"return 3 .. ''", "3"},
      {"return 10 / 2 .. '|' .. 2 ^ 53 .. '|' .. 1e15 .. '|' .. 0.1 .. '|' .. -0 / 1",
       "5|9.007199254741e+15|1e+15|0.1|-0"},
  });
}

TEST(Lua51Wrapper, luaT_gettm) {
  ExpectResults({
      {"return #setmetatable({1, 2, 3}, {__len = function() return 9 end})", "3"},
      {"local function count(mode) local t = setmetatable({}, {__mode = mode}) t[{}] = 1 t[1] = {} collectgarbage() "
       "local n = 0 for _ in pairs(t) do n = n + 1 end return n end "
       "return show(count(), count('k'), count(('k'):rep(50)), count('v'), count('kv'))",
       "2|2|2|1|0"},
  });
}

TEST(Lua51Wrapper, luaC_checkfinalizer) {
  EXPECT_EQ(Lua51State().Run("local log = {} setmetatable({}, {__gc = function() log[1] = 1 end}) "
                             "local p = newproxy(true) getmetatable(p).__gc = function() log[1] = 1 end "
                             "p = newproxy(p) p = nil collectgarbage() collectgarbage() return #log"),
            "0");
}

TEST(Lua51Wrapper, luaO_chunkid) {
  ExpectResults({
      {"local _, e = pcall(loadstring('error(1)', '@' .. ('a'):rep(52) .. ('b'):rep(28))) return e",
       "...aaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbb:1: 1"},
      {"local _, e = pcall(loadstring('error(1) --' .. ('a'):rep(80))) return e",
       "[string \"error(1) --aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\"]:1: 1"},
  });
}

TEST(Lua51Wrapper, luaG_addinfo) {
  ExpectResults({
      {"local _, e = loadstring('x', '@' .. ('a'):rep(75)) return show(#e, e:sub(1, 4), e:match(':.*'))",
       "104|...a|:1: '=' expected near '<eof>'"},
      {"local _, e = loadstring('x = --' .. ('a'):rep(80)) return #e:match('%b\"\"')", "68"},
  });
}

TEST(Lua51Wrapper, luaH_next) {
  ExpectResults({
      {"local s = '' for k in pairs({1, 2}) do s = s .. 2 ^ 62 * k * k .. ' ' end return s",
       "4.6116860184274e+18 1.844674407371e+19 "},
      {"local t = {5, 6, [2 ^ 40] = 7} return show(next(t, 1), next(t, 2), next(t, 2 ^ 40))", "2|1099511627776|nil"},
  });
}

TEST(Lua51Wrapper, luaT_trybinTM) {
  ExpectResults({
      {"local a, b, c = '10', 5, '0x10' return show(a + b, b - a, a * c, a / b, a % b, b ^ '2', -a)",
       "15|-5|160|2|0|25|-10"},
      {"local a, b = 5.5, -2 return show(a % b, b % a)", "-0.5|3.5"},
      {"local t = setmetatable({}, {__add = function(a, b) return type(a) .. type(b) end}) local a = '10' "
       "return show(a + t, t + a)",
       "stringtable|tablestring"},
  });
}

TEST(Lua51Wrapper, luaT_trybinassocTM) {
  ExpectResults({
      {"local a = '10' return show(a * 5, 5 * a, a + 5, 5 + a, a - 5, a / 5)", "50|50|15|15|5|2"},
      {"local p = newproxy(true) getmetatable(p).__len = function() return 'ten' end return #p", "ten"},
  });
}

TEST(Lua51Wrapper, luaG_opinterror) {
  ExpectResults({
      {"return show(pcall(function() local s, t = '3', {} return s + t end))",
       "false|user_script:1: attempt to perform arithmetic on local 't' (a table value)"},
      {"return show(pcall(function() local s, t = 'x', {} return s + t end))",
       "false|user_script:1: attempt to perform arithmetic on local 's' (a string value)"},
  });
}

// Without a seed the order is the same in every process.
TEST(Lua51Wrapper, luaS_hash) {
  EXPECT_EQ(Lua51State().Run("local order, names = '', {} for name in ('abcdefghijklmnop'):gmatch('.') do "
                             "names[name] = 1 end for name in pairs(names) do order = order .. name end return order"),
            "apcbedgfihkjmlon");
}

using EqualBlocks = uint32_t[10][3];

// The blocks of strings of 40 bytes, and those at the end of strings of 200,040 bytes. The three blocks of a row change
// Lua's hash in the same way.
constexpr EqualBlocks kBlocksOf40 = {{4194325635, 4213339585, 4192155585}, {710884575, 712643807, 786609555},
                                     {2517109512, 2518741389, 2458339592}, {680320326, 908583813, 911416453},
                                     {1571728856, 1586752900, 1586749367}, {3874774329, 3874863100, 3874626065},
                                     {2814287829, 3037666005, 2829094241}, {927003818, 907915240, 908597961},
                                     {3590171473, 3663046930, 3156673810}, {649731805, 708946685, 903646467}};
constexpr EqualBlocks kBlocksOf200040 = {{4250572578, 4288158242, 4235683975}, {2574494982, 2788029156, 2649687558},
                                         {3115952966, 3115746953, 3145377896}, {2668101042, 2897083540, 2668099591},
                                         {122386657, 137303652, 107640479},    {4171493251, 4200910754, 4190532227},
                                         {530472287, 482156832, 482232825},    {1485184764, 1534838688, 1533493693},
                                         {2580495347, 2789424115, 2774128371}, {2175246400, 2160500118, 1980523072}};

// Returns the i-th of 3^10 strings that consist of ten blocks of four bytes. All have the same hash in Lua.
std::string StringOfEqualHash(size_t i, const EqualBlocks& blocks = kBlocksOf40) {
  std::string text;
  for (const auto& row : blocks) {
    for (int byte = 0; byte < 4; ++byte) text += static_cast<char>(row[i % 3] >> (8 * byte));
    i /= 3;
  }
  return text;
}

// Returns the processor time in seconds that a full collection takes.
double CollectionSeconds(Lua51State& state) {
  const std::clock_t start = std::clock();
  lua_gc(state.lua(), LUA_GCCOLLECT);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// With Lua's own function, the first collection would take a hundred times as long as the second.
TEST(Lua51Wrapper, luaS_remove) {
  Lua51State state;
  state.Run("others = {} for i = 1, 40000 do others[i] = 'a' .. i end");
  lua_newtable(state.lua());
  for (size_t i = 0; i < 19683; ++i) {
    const std::string text = StringOfEqualHash(i);
    lua_pushlstring(state.lua(), text.data(), text.size());
    lua_rawseti(state.lua(), -2, static_cast<lua_Integer>(i) + 1);
  }
  lua_setglobal(state.lua(), "equal");
  state.Run("for i = 1, 30000 do others[-i] = 'b' .. i end");  // Lua makes its table of strings larger
  state.Run("equal = nil");
  const double seconds_of_equal = CollectionSeconds(state);
  state.Run("others = nil");
  EXPECT_LT(seconds_of_equal, 10 * CollectionSeconds(state) + 0.05);
}

// With Lua's own function, the look-up would compare 40 GB.
TEST(Lua51Wrapper, luaS_eqlngstr) {
  Lua51State state;
  state.Run(
      "local p = ('x'):rep(20000000) one, other = p .. 'a', p .. 'b' t = {[one] = 1} setmetatable(t, {__index = t})");
  const std::clock_t start = std::clock();
  EXPECT_EQ(state.Run("return show(pcall(function() return t[other] end))"), "false|user_script:1: loop in gettable");
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 1);
  EXPECT_EQ(state.Run("return show(one == other, t[one], rawequal(one, one .. ''))"), "false|1|true");
}

TEST(Lua51Wrapper, strcoll) {
  static int hook_calls;
  hook_calls = 0;
  Lua51State state;
  constexpr int kInstructions = 1 << 30;
  const lua_Hook hook = [](lua_State*, lua_Debug*) { ++hook_calls; };
  ScriptWatch watch(hook, kInstructions);
  watch.Begin(state.lua());
  lua_sethook(state.lua(), hook, LUA_MASKCOUNT, kInstructions);
  EXPECT_EQ(state.Run("local z, y = ('\\0'):rep(2 ^ 21), ('\\0'):rep(2 ^ 21 + 1) return show(z < y, y <= z, z <= z)"),
            "true|false|true");
  watch.End();
  EXPECT_GE(hook_calls, 3 << 21 >> 14);
}

// The table gets 2^17 nodes, and a number is looked for at the node that is its remainder modulo 2^17 - 1.
TEST(Lua51Wrapper, luaH_finishset) {
  EXPECT_EQ(Lua51State().Run("local t = {} return show(pcall(function() for i = 1, 2 ^ 16 + 1 do "
                             "t[i * (2 ^ 17 - 1)] = i end end))"),
            "false|user_script:1: too many keys of a table have equal hashes");
}

TEST(Lua51Wrapper, luaH_set) {
  EXPECT_EQ(Lua51State().Run("local t = {} return show(pcall(function() for i = 1, 2 ^ 16 + 1 do "
                             "rawset(t, i * (2 ^ 17 - 1), i) end end))"),
            "false|too many keys of a table have equal hashes");
}

TEST(Lua51Wrapper, luaH_setint) {
  EXPECT_EQ(Lua51State().Run("local t = {} for i = 1, 2 ^ 16 do t[-i * (2 ^ 17 - 1)] = i end "
                             "return show(pcall(table.insert, t, 7, 1))"),
            "false|too many keys of a table have equal hashes");
}

TEST(Lua51Wrapper, luaH_resizearray) {
  EXPECT_EQ(Lua51State().Run("local keys = {} for i = 1, 33000 do keys[i] = '[g()]=1' end "
                             "local make = loadstring('local g, f = ... return {' .. table.concat(keys, ',') .. "
                             "', f()}') local i = 0 return show((pcall(make, function() i = i + 65535 return i end, "
                             "function() return 1, 2 end)))"),
            "false");
}

// Strings of over 40 bytes are compared whole. These differ only at their ends.
TEST(Lua51Tables, LongKeysOfEqualHashesEndTheScript) {
  Lua51State state;
  state.Run("prefix = ('x'):rep(200000) ends = {}");
  lua_getglobal(state.lua(), "ends");
  for (size_t i = 0; i < 600; ++i) {
    const std::string text = StringOfEqualHash(i, kBlocksOf200040);
    lua_pushlstring(state.lua(), text.data(), text.size());
    lua_rawseti(state.lua(), -2, static_cast<lua_Integer>(i) + 1);
  }
  lua_settop(state.lua(), 0);
  EXPECT_EQ(state.Run("local t = {} for i = 1, 20 do t[prefix .. ends[i]] = i end return t[prefix .. ends[2]]"), "2");
  EXPECT_EQ(
      state.Run("local t = {} return show(pcall(function() for _, e in ipairs(ends) do t[prefix .. e] = 1 end end))"),
      "false|user_script:1: too many keys of a table have equal hashes");
}

// To give an absent key the value nil changes nothing. It must not cost a look at all keys.
TEST(Lua51Tables, AbsentKeysCanBeRemovedQuickly) {
  EXPECT_EQ(Lua51State().Run("local t = {} for i = 1, 2 ^ 16 do t[i + 0.5] = 1 end for i = 1, 2 ^ 16 do "
                             "t[i + 0.25] = nil rawset(t, i + 0.125, nil) end return show(t[1.5])"),
            "1");
}

TEST(Lua51Tables, GrowWithKeysOfAllKinds) {
  for (const char* key : {"i", "-i", "i * 1000", "i * 2 ^ 20", "i / 3", "i * 2 ^ 60", "'key' .. i", "{}",
                          "i % 2 == 0 and i or 'key' .. i", "i < 2 ^ 17 and i or i * (2 ^ 17 - 1)"}) {
    EXPECT_EQ(Lua51State().Run(StrCat("local t, last = {} for i = 1, 2 ^ 17 + 5 do last = ", key,
                                      " t[last] = i end local n = 0 for _ in pairs(t) do n = n + 1 end "
                                      "return show(n, t[last])")),
              "131077|131077")
        << key;
  }
}

TEST(Lua51Wrapper, luaK_prefix) {
  ExpectResults({
      {"local n = #'ab' for i = 1, 6 do n = n * n end return n", "1.844674407371e+19"},
      {"local n = #{1, 2} for i = 1, 6 do n = n * n end return n", "1.844674407371e+19"},
  });
}

TEST(Lua51Wrapper, luaK_finish) {
  ExpectResults({
      {"local a, b = 1, 0.1 return show(a % b, a % 0.1, 1 % b)", "0|0|0"},
      {"local a, infinite = 5, 1 / 0 local r = a % infinite return show(r ~= r, -a % 3)", "true|1"},
  });
}

// A table that is its own __call would occupy the server for minutes.
TEST(Lua51Wrapper, luaT_gettmbyobj) {
  ExpectResults({
      {"local t = setmetatable({}, {}) getmetatable(t).__call = t return show(pcall(t))",
       "false|attempt to call a table value"},
      {"local t = setmetatable({}, {__call = setmetatable({}, {__call = function() return 1 end})}) return "
       "show(pcall(t))",
       "false|attempt to call a table value"},
      {"return show(setmetatable({}, {__call = function(self, a) return type(self), a end})(5))", "table|5"},
      {"local add = setmetatable({}, {__call = function() return 7 end}) "
       "return show(setmetatable({}, {__add = add}) + 1)",
       "7"},
  });
}

// Otherwise a kill would call all of them, which can take minutes.
TEST(Lua51Wrapper, luaF_newtbcupval) {
  ExpectResults({
      {"local closed = 'kept' do local x <close> = setmetatable({}, {__close = function() closed = 'closed' end}) end "
       "return show(closed)",
       "kept"},
      {"local closed = 'kept' local close = setmetatable({}, {__close = function() closed = 'closed' end}) "
       "for i in next, {1}, nil, close do end return show(closed)",
       "kept"},
      {"local closed, p = 'kept', newproxy(true) getmetatable(p).__close = function() closed = 'closed' end "
       "do local x <close> = p end for i in next, {1}, nil, p do end return show(closed)",
       "kept"},
      {"return show(#('x'):rep(100000))", "100000"},
  });
}

// The compiler computes a remainder of two constants.
TEST(Lua51Wrapper, luaV_modf) {
  ExpectResults({
      {"return show(1 % 0.1, 100 % 0.3, -5 % 3)", "0|0.10000000000001|1"},
      {"local r = 5 % 1e999 return show(r ~= r)", "true"},
  });
}

TEST(Lua51Wrapper, luaO_pushvfstring) {
  ExpectResults({
      {"return show(pcall(function() local x x() end))",
       "false|user_script:1: attempt to call local 'x' (a nil value)"},
      {"return show(pcall(function() for i = 'a', 2 do end end))",
       "false|user_script:1: 'for' initial value must be a number"},
      {"return show(tostring(5), pcall(error, 5))", "5|false|5"},
  });
}

TEST(Lua51Wrapper, luaO_pushfstring) {
  ExpectResults({
      {"return show(loadstring('x ='))", "nil|[string \"x =\"]:1: unexpected symbol near '<eof>'"},
      {"return show(loadstring('if x'))", "nil|[string \"if x\"]:1: 'then' expected near '<eof>'"},
      {"return show(loadstring('x = [[a'))", "nil|[string \"x = [[a\"]:1: unfinished long string near '<eof>'"},
  });
}

}  // namespace
}  // namespace respite
