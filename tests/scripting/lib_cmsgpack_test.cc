// The results of cmsgpack. The examples are from Redis 7.2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scripting/library_fixture.h"
#include "tests/scripting/limited_memory.h"

namespace respite {
namespace {

// clang-format off
constexpr LibraryCase kCmsgpackTables[] = {
    {R"(cmsgpack)",
     R"({"_COPYRIGHT"="Copyright (C) 2012, Salvatore Sanfilippo" "_DESCRIPTION"="MessagePack C implementation for Lua" "_NAME"="cmsgpack" "_VERSION"="lua-cmsgpack 0.4.0" "pack"=function "unpack"=function "unpack_limit"=function "unpack_one"=function})"},
    {R"(cmsgpack._NAME, cmsgpack._VERSION)", R"("cmsgpack", "lua-cmsgpack 0.4.0")"},
};

constexpr LibraryCase kCmsgpackPacked[] = {
    {R"(cmsgpack.pack(nil), cmsgpack.pack(true), cmsgpack.pack(false), cmsgpack.pack(cjson.null), cmsgpack.pack(pcall))",
     R"(xc0, xc3, xc2, xc0, xc0)"},
    {R"(cmsgpack.pack(0, 127, 128, 255, 256, 65535, 65536, 2^32 - 1, 2^32, 2^53, 2^62))",
     R"(x007fcc80ccffcd0100cdffffce00010000ceffffffffcf0000000100000000cf0020000000000000cf4000000000000000)"},
    {R"(cmsgpack.pack(-1, -32, -33, -128, -129, -32768, -32769, -2^31, -2^31 - 1, -2^63))",
     R"(xffe0d0dfd080d1ff7fd18000d2ffff7fffd280000000d3ffffffff7fffffffd38000000000000000)"},
    {R"(cmsgpack.pack(2^63), cmsgpack.pack(2^64), cmsgpack.pack(-2^64), cmsgpack.pack(1e300))",
     R"(xca5f000000, xca5f800000, xcadf800000, xcb7e37e43c8800759c)"},
    {R"(cmsgpack.pack(0.5, -0.25, 0.1, 1/0, -1/0, 3.5e38))",
     R"(xca3f000000cabe800000cb3fb999999999999aca7f800000caff800000cb47f074f8c4d3cd7b)"},
    {R"(cmsgpack.pack("", "abc", string.rep("x", 31)))",
     R"(xa0a3616263bf78787878787878787878787878787878787878787878787878787878787878)"},
    {R"(cmsgpack.pack(string.rep("x", 32)), cmsgpack.pack(string.rep("x", 255)):sub(1, 3))",
     R"(xd9207878787878787878787878787878787878787878787878787878787878787878, xd9ff78)"},
    {R"(cmsgpack.pack(string.rep("x", 256)):sub(1, 4), cmsgpack.pack(string.rep("x", 65535)):sub(1, 4), cmsgpack.pack(string.rep("x", 65536)):sub(1, 6))",
     R"(xda010078, xdaffff78, xdb0001000078)"},
    {R"(cmsgpack.pack({}), cmsgpack.pack({1, 2, 3}), cmsgpack.pack({a = 1}), cmsgpack.pack({{}, {{}}}))",
     R"(x90, x93010203, x81a16101, x92909190)"},
    {R"(cmsgpack.pack({[2] = 1}), cmsgpack.pack({[0] = 1}), cmsgpack.pack({[1.5] = 1}), cmsgpack.pack({[true] = false}))",
     R"(x810201, x810001, x81ca3fc0000001, x81c3c2)"},
    {R"(cmsgpack.pack({nil, 2}))", R"(x810202)"},
    {R"(cmsgpack.pack({1, nil, 3}) == cmsgpack.pack({[1] = 1, [3] = 3}), #cmsgpack.pack({1, nil, 3}))", R"(true, 5)"},
    {R"(cmsgpack.pack({[2^31] = 1}), cmsgpack.pack({[2^40] = 1}), cmsgpack.pack({["1"] = 1}))",
     R"(x81ce8000000001, x81cf000001000000000001, x81a13101)"},
    {R"(cmsgpack.pack({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}))",
     R"(xdc00100102030405060708090a0b0c0d0e0f10)"},
    {R"((function() local t = {} for i = 1, 70000 do t[i] = 0 end local s = cmsgpack.pack(t) return s:sub(1, 6), #s end)())",
     R"(xdd0001117000, 70005)"},
    {R"((function() local t = {} for i = 1, 20 do t["k" .. i] = i end return cmsgpack.pack(t):sub(1, 3) end)())",
     R"(xde0014)"},
    {R"(cmsgpack.pack((function() local t = {} t[1] = t return t end)()))", R"(x91919191919191919191919191919191c0)"},
    {R"(cmsgpack.pack((function() local t = {} t.a = t return t end)()))",
     R"(x81a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a16181a161c0)"},
    {R"(cmsgpack.pack((function() local t = 1 for i = 1, 16 do t = {t} end return t end)()))",
     R"(x9191919191919191919191919191919101)"},
    {R"(cmsgpack.pack((function() local t = 1 for i = 1, 17 do t = {t} end return t end)()))",
     R"(x91919191919191919191919191919191c0)"},
    {R"(cmsgpack.pack(1, "a", {2}), #cmsgpack.pack(nil, nil))", R"(x01a1619102, 2)"},
    {R"(cmsgpack.pack())", R"(error: user_script:1: bad argument #0 to 'pack' (MessagePack pack needs input.))"},
    {R"(#cmsgpack.pack(unpack((function() local t = {} for i = 1, 3990 do t[i] = i end return t end)())))",
     R"(11588)"},
    {R"(cmsgpack.pack(unpack((function() local t = {} for i = 1, 4010 do t[i] = i end return t end)())))",
     R"(error: user_script:1: bad argument #0 to 'pack' (Too many arguments for MessagePack pack.))"},
};

constexpr LibraryCase kCmsgpackUnpacked[] = {
    {R"(cmsgpack.unpack(""))", R"()"},
    {R"(cmsgpack.unpack("\192"), cmsgpack.unpack("\195\194"), cmsgpack.unpack("\1\127\224\255"))",
     R"(nil, true, 1, 127, -32, -1)"},
    {R"(cmsgpack.unpack("\204\255\205\255\255\206\255\255\255\255"))", R"(255, 65535, 4294967295)"},
    {R"(cmsgpack.unpack("\207\0\32\0\0\0\0\0\0"), cmsgpack.unpack("\207\255\255\255\255\255\255\255\255"))",
     R"(9007199254740992, -1)"},
    {R"(cmsgpack.unpack("\208\128\209\128\0\210\128\0\0\0\211\128\0\0\0\0\0\0\0"))",
     R"(-128, -32768, -2147483648, -9.2233720368547758e+18)"},
    {R"(cmsgpack.unpack("\202\63\0\0\0"), cmsgpack.unpack("\203\63\185\153\153\153\153\153\154"))",
     R"(0.5, 0.10000000000000001)"},
    {R"(cmsgpack.unpack("\160\163abc\217\2hi\218\0\2hi\219\0\0\0\2hi"))", R"("", "abc", "hi", "hi", "hi")"},
    {R"(cmsgpack.unpack("\144\147\1\2\3\220\0\1\7\221\0\0\0\1\8"))", R"({}, {1=1 2=2 3=3}, {1=7}, {1=8})"},
    {R"(cmsgpack.unpack("\128\129\161a\1\222\0\1\161b\2\223\0\0\0\1\161c\3"))", R"({}, {"a"=1}, {"b"=2}, {"c"=3})"},
    {R"(cmsgpack.unpack("\130\1\2\1\3"), cmsgpack.unpack("\129\144\1"), cmsgpack.unpack("\146\192\1"), cmsgpack.unpack("\129\1\192"))",
     R"({1=3}, {{}=1}, {2=1}, {})"},
    {R"(cmsgpack.unpack("\129\192\1"))", R"(error: table index is nil)"},
    {R"(cmsgpack.unpack("\129\203\127\248\0\0\0\0\0\0\1"))", R"(error: table index is NaN)"},
    {R"(cmsgpack.unpack("\193"))", R"(error: user_script:1: Bad data format in input.)"},
    {R"(cmsgpack.unpack("\196\1a"))", R"(error: user_script:1: Bad data format in input.)"},
    {R"(cmsgpack.unpack("\199\1\1a"))", R"(error: user_script:1: Bad data format in input.)"},
    {R"(cmsgpack.unpack("\212\1a"))", R"(error: user_script:1: Bad data format in input.)"},
    {R"(cmsgpack.unpack("\1\193"))", R"(error: user_script:1: Bad data format in input.)"},
    {R"(cmsgpack.unpack("\204"))", R"(error: user_script:1: Missing bytes in input.)"},
    {R"(cmsgpack.unpack("\203\0\0"))", R"(error: user_script:1: Missing bytes in input.)"},
    {R"(cmsgpack.unpack("\163ab"))", R"(error: user_script:1: Missing bytes in input.)"},
    {R"(cmsgpack.unpack("\219\255\255\255\255"))", R"(error: user_script:1: Missing bytes in input.)"},
    {R"(cmsgpack.unpack("\221\255\255\255\255"))", R"(error: user_script:1: Missing bytes in input.)"},
    {R"(cmsgpack.unpack("\223\255\255\255\255\1"))", R"(error: user_script:1: Missing bytes in input.)"},
    {R"(cmsgpack.unpack("\147\1\2"))", R"(error: user_script:1: Missing bytes in input.)"},
    {R"(cmsgpack.unpack({}))", R"(error: user_script:1: bad argument #1 to 'unpack' (string expected, got table))"},
    {R"(cmsgpack.unpack())", R"(error: user_script:1: bad argument #1 to 'unpack' (string expected, got no value))"},
    {R"(cmsgpack.unpack(12))", R"(49, 50)"},
    {R"(cmsgpack.unpack_one("\1\2\3"), cmsgpack.unpack_one("\1\2\3", 1), cmsgpack.unpack_one("\1\2\3", 2))",
     R"(1, 2, -1, 3)"},
    {R"(cmsgpack.unpack_one("\1\2\3", 3))", R"(-1)"},
    {R"(cmsgpack.unpack_one(""))", R"(-1)"},
    {R"(cmsgpack.unpack_one("\1\2\3", 4))", R"(error: user_script:1: Start offset 4 greater than input length 3.)"},
    {R"(cmsgpack.unpack_one("\1\2\3", -1))",
     R"(error: user_script:1: Invalid request to unpack with offset of -1 and limit of 3.)"},
    {R"(cmsgpack.unpack_one("\1\2\3", 1.9), cmsgpack.unpack_one("\1\2\3", "1"), cmsgpack.unpack_one("\1\2", nil))",
     R"(2, 2, 1, 1)"},
    {R"(cmsgpack.unpack_one("\1", "x"))",
     R"(error: user_script:1: bad argument #2 to 'unpack_one' (number expected, got string))"},
    {R"(cmsgpack.unpack_one())",
     R"(error: user_script:1: bad argument #1 to 'unpack_one' (string expected, got no value))"},
    {R"(cmsgpack.unpack_limit("\1\2\3", 2))", R"(2, 1, 2)"},
    {R"(cmsgpack.unpack_limit("\1\2\3", 5))", R"(-1, 1, 2, 3)"},
    {R"(cmsgpack.unpack_limit("\1\2\3", 1, 2))", R"(-1, 3)"},
    {R"(cmsgpack.unpack_limit("\1\2\3", 0))", R"(1, 2, 3)"},
    {R"(cmsgpack.unpack_limit("\1\2\3", 0, 1))", R"(1)"},
    {R"(cmsgpack.unpack_limit("\1\2\3", -1, 1))",
     R"(error: user_script:1: Invalid request to unpack with offset of 1 and limit of 3.)"},
    {R"(cmsgpack.unpack_limit("\1\2\3", 1, 9))",
     R"(error: user_script:1: Start offset 9 greater than input length 3.)"},
    {R"(cmsgpack.unpack_limit("\1\2\3"))",
     R"(error: user_script:1: bad argument #2 to 'unpack_limit' (number expected, got no value))"},
    {R"(cmsgpack.unpack_limit())",
     R"(error: user_script:1: bad argument #2 to 'unpack_limit' (number expected, got no value))"},
    {R"(select("#", cmsgpack.unpack(string.rep("\1", 7000))))", R"(7000)"},
    {R"(cmsgpack.unpack(string.rep("\1", 9000)))",
     R"(error: user_script:1: stack overflow (too many return values at once; use unpack_one or unpack_limit instead.))"},
    {R"(select("#", cmsgpack.unpack(string.rep("\145", 3900) .. "\1")))", R"(1)"},
    {R"(cmsgpack.unpack(string.rep("\145", 100000)))",
     R"(error: user_script:1: stack overflow (in function mp_decode_to_lua_array))"},
    {R"(cmsgpack.unpack(string.rep("\129", 100000)))",
     R"(error: user_script:1: stack overflow (too many return values at once; use unpack_one or unpack_limit instead.))"},
    {R"(cmsgpack.unpack(string.rep("\129\1", 100000)))",
     R"(error: user_script:1: stack overflow (too many return values at once; use unpack_one or unpack_limit instead.))"},
    {R"(cmsgpack.unpack(string.rep("\221\0\0\0\1", 100000)))",
     R"(error: user_script:1: stack overflow (in function mp_decode_to_lua_array))"},
};

// clang-format on

TEST(Cmsgpack, HasWhatRedisHas) {
  LibraryState state;
  for (const LibraryCase& example : kCmsgpackTables)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

TEST(Cmsgpack, PacksAsRedis) {
  LibraryState state;
  for (const LibraryCase& example : kCmsgpackPacked)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

TEST(Cmsgpack, UnpacksAsRedis) {
  LibraryState state;
  for (const LibraryCase& example : kCmsgpackUnpacked)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

TEST(Cmsgpack, UnpacksWhatItPacks) {
  LibraryState state;
  EXPECT_EQ(state.Show(R"(cmsgpack.unpack(cmsgpack.pack({a = 1, b = {2, "x", -0.5}, [7] = true, [2.5] = {}})))"),
            R"({"a"=1 "b"={1=2 2="x" 3=-0.5} 2.5={} 7=true})");
}

// The collector removes entries of the weak tables between their count and their contents.
TEST(Cmsgpack, PacksAsManyEntriesAsItCounts) {
  for (const char* entry : {"weak['k' .. i] = {}", "weak[i] = {}", "weak[{}] = i"}) {
    LibraryState state;
    lua_State* lua = state.Lua();
    state.PushResult("return cmsgpack.pack");
    state.PushResult(std::string("local weak = setmetatable({}, {__mode = 'kv'}) for i = 1, 100 do ") + entry +
                     " end return weak");
    state.CollectInLoops();
    ASSERT_EQ(lua_pcall(lua, 1, 1, 0), LUA_OK) << lua_tostring(lua, -1);
    lua_sethook(lua, nullptr, 0, 0);
    lua_setglobal(lua, "packed");
    EXPECT_EQ(state.Show("#packed > 0, select('#', cmsgpack.unpack(packed))"), "true, 1") << entry;
  }
}

// An empty table may have millions of empty slots, so the search for its first entry may take long.
TEST(Cmsgpack, ListensBeforeItPacksEmptyTables) {
  LibraryState state;
  EXPECT_GT(state.HookCallsOf("cmsgpack.pack {{}, {}, {}, {}, {}, {}, {}, {}}", 1),
            state.HookCallsOf("type {{}, {}, {}, {}, {}, {}, {}, {}}", 1) + 8);
}

TEST(Cmsgpack, EndsWithinItsMemory) {
  LimitedMemory memory(16 << 20);
  {
    LibraryState state(memory.NewState());
    EXPECT_EQ(state.Show(R"((function()
      local same, all = string.rep("x", 1000000), {}
      for i = 1, 50 do all[i] = same end
      return cmsgpack.pack(all)
    end)())"),
              "error: not enough memory");
    // False lengths reserve hardly any memory.
    EXPECT_EQ(state.Show(R"(cmsgpack.unpack(string.rep("\221\255\255\255\255", 2000)))"),
              "error: user_script:1: Missing bytes in input.");
    EXPECT_EQ(state.Show(R"(cmsgpack.unpack(string.rep("\222\255\255", 2000)))"),
              "error: user_script:1: Missing bytes in input.");
  }
  EXPECT_EQ(memory.UsedBytes(), 0u);
}

}  // namespace
}  // namespace respite
