// Tricks that a script may try in order to escape the sandbox, to leave something behind, or to break the server; and
// random numbers.
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdlib>
#include <utility>

#include "library_fixture.h"
#include "lua51_programs.h"
#include "scripting/lua51.h"

namespace respite {
namespace {

std::string Adapted(Bytes source) {
  Lua51State state;
  return std::string(AdaptedSource(state.lua(), source).View());
}

TEST(Lua51Chance, ContinuesAcrossScriptsAndRestartsWithASeed) {
  Lua51State state;
  EXPECT_EQ(state.Run("return math.random()"), "0.39646477363839");
  EXPECT_EQ(state.Run("return math.random()"), "0.84048536971234");
  SeedRandom(state.lua(), 0);
  EXPECT_EQ(state.Run("return math.random(100)"), "18");
  EXPECT_EQ(state.Run("math.randomseed(42) return show(math.random(1000), math.random(1000), math.random(5,6))"),
            "745|343|5");
}

TEST(Lua51Safety, NoBytecodeGetsInOrOut) {
  EXPECT_EQ(Lua51State().Run("return show(pcall(string.dump, function() end))"), "false|unable to dump given function");
  EXPECT_EQ(Lua51State().Run("return show(loadstring('\\27Lua'))"),
            "nil|[string \"\x1bLua\"]:1: unexpected symbol near 'char(27)'");
  EXPECT_EQ(Adapted("\x1bLua").front(), ' ');
}

TEST(Lua51Safety, TheCollectorKeepsItsSettings) {
  Lua51State state;
  lua_gc(state.lua(), LUA_GCRESTART);
  EXPECT_EQ(state.Run("return show(collectgarbage('stop'), collectgarbage('setpause', 1000), "
                      "collectgarbage('setpause', 0), collectgarbage('setstepmul', 1))"),
            "0|200|200|200");
  EXPECT_TRUE(lua_gc(state.lua(), LUA_GCISRUNNING));
}

TEST(Lua51Safety, NestingEndsWithAnError) {
  const std::string deep_source = "return " + std::string(100000, '(');
  EXPECT_EQ(Lua51State().Run(deep_source).substr(0, 4), "ERR ");
  EXPECT_EQ(Lua51State().Run("local s=('(a'):rep(40) return show(pcall(string.find, ('a'):rep(50), s))"),
            "false|too many captures");
  EXPECT_EQ(Lua51State().Run("return show(pcall(string.find, ('a'):rep(5000), ('a?'):rep(5000)))"),
            "false|pattern too complex");
  EXPECT_EQ(Lua51State().Run("local function f() return 1+f() end return show(pcall(f))").substr(0, 40),
            "false|user_script:1: stack overflow");
  EXPECT_EQ(Lua51State().Run("local function f() return (string.gsub('a','a',f)) end "
                             "return show(pcall(f)):find('C stack overflow') and 'ended'"),
            "ended");
}

// An endless match calls the hook, like an endless loop, so that it can be ended.
TEST(Lua51Safety, LongMatchesCallTheHook) {
  const std::string match = "return string.find(('a'):rep(5000), ('%s'):rep(20) .. 'b')";
  for (const char* item : {"a*", "[a-z]*", "a-"}) {
    Lua51State state;
    lua_sethook(
        state.lua(), [](lua_State* lua, lua_Debug*) { luaL_error(lua, "ended"); }, LUA_MASKCOUNT, 1'000'000);
    std::string text = match;
    text.replace(text.find("%s"), 2, item);
    EXPECT_EQ(state.Run(text), "ERR user_script:1: ended") << item;
  }
}

// The functions that these expressions call from C++ may take long, as may the conversion of a text to a number.
TEST(Lua51Safety, LoopsThatCallFunctionsCallTheHookEachTime) {
  LibraryState state;
  state.RunChunk(
      "texts = {} for i = 1, 320 do texts[i] = 'x' .. i end numbers = {} "
      "for i = 1, 320 do numbers[i] = '7' end");
  struct Loop {
    const char* expression;
    int calls;
  };
  for (const auto& [expression, calls] : std::initializer_list<Loop>{{"(('a'):rep(320):gsub('a', string.upper))", 320},
                                                                     {"(('a'):rep(320):gsub('a', texts))", 320},
                                                                     {"table.sort(texts, rawequal)", 320},
                                                                     {"table.foreach(texts, string.find)", 320},
                                                                     {"table.foreachi(texts, string.find)", 320},
                                                                     {"math.max(unpack(numbers))", 19},
                                                                     {"string.char(unpack(numbers))", 20},
                                                                     {"bit.bor(unpack(numbers))", 19}}) {
    const int without_loop = state.HookCallsOf("type(unpack(numbers))", 1);
    EXPECT_GE(state.HookCallsOf(expression, 1), without_loop - 20 + calls) << expression;
  }
}

// Each of these may take seconds, and has no step of Lua.
TEST(Lua51Safety, LongSearchesAndCollectionsCallTheHook) {
  constexpr int kNever = 1 << 30;
  LibraryState state;
  state.RunChunk("text = ('a'):rep(4000000)");
  EXPECT_GE(state.HookCallsOf("text:find('ab', 1, true)", kNever), 3);
  EXPECT_GE(state.HookCallsOf("text:find(('a'):rep(100000) .. 'b', 1, true)", kNever), 100);
  state.RunChunk("many = {} for i = 1, 1000000 do many[i] = {} end");
  EXPECT_GE(state.HookCallsOf("collectgarbage()", 1), state.HookCallsOf("collectgarbage('count')", 1) + 5);
}

TEST(Lua51Safety, SearchesInPiecesFindTheSame) {
  LibraryState state;
  state.RunChunk("mega = 2 ^ 20  long = ('ab'):rep(50000)");
  for (const auto& [expression, found] : std::initializer_list<std::pair<const char*, const char*>>{
           {"(('a'):rep(mega - 2) .. 'bcd'):find('bcd')", "1048575, 1048577"},
           {"(('a'):rep(mega) .. 'bcd'):find('bcd')", "1048577, 1048579"},
           {"(('a'):rep(3 * mega - 1) .. 'b'):find('b', 5, true)", "3145728, 3145728"},
           {"(('a'):rep(mega)):find('', mega, true)", "1048576, 1048575"},
           {"('x' .. long):find(long)", "2, 100001"},
           {"('x' .. long .. long):find(long, 3)", "4, 100003"},
           {"('x' .. long .. long):find(long, 100003)", "nil"},
           {"('x' .. long .. 'a' .. long .. 'y'):find(long .. 'y', 1, true)", "100003, 200003"},
           {"long:find(long .. 'a')", "nil"},
           {"long:find(long)", "1, 100000"}}) {
    EXPECT_EQ(state.Show(expression), found) << expression;
  }
}

// Each step of these comparisons reads many bytes: counted only in steps, they would run for minutes.
TEST(Lua51Safety, LongComparisonsCallTheHook) {
  for (const Bytes source :
       {"string.find(('('):rep(20000), '%b()')", "string.find(('a'):rep(20000), ('a'):rep(10000) .. '.b')",
        "string.find(('a'):rep(5000), '%f[' .. ('b'):rep(10000) .. ']')",
        "string.find(('a'):rep(20000), ('a'):rep(1000) .. '()' .. ('a'):rep(9000) .. 'b')",
        "local p, t = ('a'):rep(2^20), {} for i = 1, 100 do t[i] = p .. i end table.sort(t)"}) {
    Lua51State state;
    lua_sethook(
        state.lua(), [](lua_State* lua, lua_Debug*) { luaL_error(lua, "ended"); }, LUA_MASKCOUNT, 100'000'000);
    EXPECT_EQ(state.Run(source), "ERR user_script:1: ended") << source;
  }
}

// Loops in library functions that would run for minutes end when the script is ended.
TEST(Lua51Safety, LongLoopsOfLibrariesCallTheHook) {
  for (const Bytes source :
       {"table.insert({}, -2147483648, 1)",
        "local t = {} for i = 1, 20000 do t[i] = 1 end while true do table.maxn(t) end", "load(math.random)",
        "local t = {} for i = 1, 20000 do t[i] = i end while true do table.foreach(t, type) end"}) {
    Lua51State state;
    lua_sethook(
        state.lua(), [](lua_State* lua, lua_Debug*) { luaL_error(lua, "ended"); }, LUA_MASKCOUNT, 100'000'000);
    EXPECT_EQ(state.Run(source).substr(0, 4), source == "load(math.random)" ? "nil" : "ERR ") << source;
  }
}

// Takes minutes if the time is quadratic.
TEST(Lua51Safety, PlainTextIsFoundInLinearTime) {
  EXPECT_EQ(
      Lua51State().Run("local a = ('a'):rep(2^20) return show(string.find(a .. a, a .. 'b', 1, true), "
                       "string.find(a .. a, 'b' .. a, 1, true), (string.find(a .. 'b' .. a, 'b' .. a, 1, true)))"),
      "nil|nil|1048577");
}

// Recursion in C++ ends with an error when the thread's stack is nearly used up.
TEST(Lua51Safety, DeepRecursionNeedsNoLargeStack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 << 10);
  const auto run = [](void*) -> void* {
    LibraryState state;
    const std::string deep = state.Show("pcall(cjson.decode, ('['):rep(900) .. (']'):rep(900))");
    EXPECT_EQ(deep.substr(0, 4), "true") << deep;
    for (const char* expression :
         {"cjson.decode_max_depth(1e6) or cjson.decode(('['):rep(1e5) .. (']'):rep(1e5))",
          "cmsgpack.unpack(('\145'):rep(1e5))", "string.find(('a'):rep(5000), ('a?'):rep(5000))"}) {
      EXPECT_NE(state.Show(expression), "") << expression;
    }
    return nullptr;
  };
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, run, nullptr), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// The memory limit of the state.
constexpr size_t kLimit = 4 << 20;

void* LimitedAllocate(void* used, void* block, size_t old_size, size_t size) {
  size_t& used_bytes = *static_cast<size_t*>(used);
  if (block == nullptr) old_size = 0;
  if (size > old_size && used_bytes + size - old_size > kLimit) return nullptr;
  used_bytes += size - old_size;
  if (size != 0) return std::realloc(block, size);
  std::free(block);
  return nullptr;
}

std::string RunLimited(const char* source) {
  size_t used_bytes = 0;
  lua_State* lua = lua_newstate(LimitedAllocate, &used_bytes);
  OpenLua51(lua);
  const int status = luaL_loadstring(lua, source) == LUA_OK ? lua_pcall(lua, 0, 1, 0) : LUA_ERRSYNTAX;
  std::string result = status == LUA_OK ? "ok" : lua_tostring(lua, -1);
  lua_close(lua);
  EXPECT_EQ(used_bytes, 0u);
  return result;
}

TEST(Lua51Safety, BombsEndAtTheLimitOfMemory) {
  EXPECT_EQ(RunLimited("return 1"), "ok");
  EXPECT_EQ(RunLimited("return string.rep('x', 2^31-1)"), "not enough memory");
  EXPECT_EQ(RunLimited("local s='x' while true do s=s..s end"), "not enough memory");
  EXPECT_EQ(RunLimited("return table.concat({('x'):rep(1e6), ('y'):rep(1e6), ('z'):rep(1e6)})"), "not enough memory");
  EXPECT_EQ(RunLimited("return (('x'):rep(1e6):gsub('x', 'yyyyyyyyyy'))"), "not enough memory");
  EXPECT_EQ(RunLimited("return load(function() return ('x'):rep(1e5) end)"), "ok");
}

TEST(Lua51Source, KeepsLinesAndEverythingElse) {
  const Bytes unchanged[] = {"return 1",
                             "return 'a\\n\\065\\\\'",
                             "-- don't \\x\nreturn 1",
                             "return [[\\x]], [=[ ']] \\y]=]",
                             "--[[ ' \\q ]] return '\\\n'",
                             "local s = 'unfinished \\",
                             "return \"\\r\\\r\nx\""};
  for (const Bytes source : unchanged) EXPECT_EQ(Adapted(source), source);
  EXPECT_EQ(Adapted("x = '\\.\\x41' -- \\.\ny = \"\\'\\d\""), "x = '.x41' -- \\.\ny = \"\\'d\"");
}

TEST(Lua51Source, TakesNewOperatorsApart) {
  EXPECT_EQ(Adapted("return 7//2, 1<<2, 8>>1, '//' -- <<"), "return 7/ /2, 1< <2, 8> >1, '//' -- <<");
  EXPECT_EQ(Adapted("::a:: local _ENV = a == b, a <= b, a >= b, a:b()"),
            ": :a: : local _ENV_ = a == b, a <= b, a >= b, a:b()");
}

TEST(Lua51Source, CreatesArgOnlyInFunctionsThatUseIt) {
  const Bytes with_arg = "local function f( ... ) if x then return arg[1] end end";
  EXPECT_EQ(Adapted(with_arg),
            "local function f( ... ) local arg={n=select('#',...),...}; if x then return arg[1] end end");
  EXPECT_EQ(Adapted("function f(...) function g(...) return arg end end"),
            "function f(...) local arg={n=select('#',...),...}; function g(...) local arg={n=select('#',...),...}; "
            "return arg end end");
  const Bytes unchanged[] = {"function f(...) return ... , arg end", "return arg, ...",
                             "function f(...) end return arg", "function f(a) return arg end return ...",
                             "function f(...) -- arg\n end"};
  for (const Bytes source : unchanged) EXPECT_EQ(Adapted(source), source);
}

// Nothing can stop this, so the time must be linear in the text (quadratic time would be minutes here).
TEST(Lua51Source, IsReadInLinearTime) {
  const auto repeated = [](Bytes text) {
    std::string all;
    for (int i = 0; i < 300'000; ++i) all += text;
    return all;
  };
  const std::string nested = repeated("do ") + repeated("arg ") + repeated("... ");
  EXPECT_EQ(Adapted(nested), nested);
  const std::string unfinished = repeated("function ") + "arg ...";
  EXPECT_EQ(Adapted(unfinished), unfinished);
  EXPECT_EQ(Adapted(repeated("function f(...) return arg end ")),
            repeated("function f(...) local arg={n=select('#',...),...}; return arg end "));
  const std::string inside = repeated("function(...) ") + repeated("end ") + "arg";
  EXPECT_EQ(Adapted(inside), inside);
}

}  // namespace
}  // namespace respite
