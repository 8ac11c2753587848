// Libraries of functions without a server: what code may do while it is loaded, every refusal, and that a failure
// changes nothing.

#include "scripting/function_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "protocol/reply.h"
#include "protocol/reply_buffer.h"
#include "scripting/script_cache.h"
#include "scripting/script_header.h"
#include "tests/scripting/fake_script_host.h"

namespace respite {
namespace {

using OnExisting = FunctionLibraries::OnExisting;
using Policy = FunctionLibraries::RestorePolicy;

std::string Code(const std::string& name, const std::string& body) { return "#!lua name=" + name + "\n" + body; }
std::string Registers(const std::string& function) {
  return "redis.register_function('" + function + "', function(keys, args) return 1 end)\n";
}

class FunctionLibraryTest : public testing::Test {
 protected:
  // Returns the library's name, or the error.
  std::string Load(const std::string& code, OnExisting on_existing = OnExisting::kRefuse) {
    const auto loaded = libraries_.Load(code, on_existing);
    return loaded ? loaded.value()->name : loaded.error();
  }
  // Returns the result of loading code as a new library.
  std::string Try(const std::string& body) { return Load(Code("tried", body), OnExisting::kReplace); }
  std::string Restore(const std::vector<std::string>& codes, Policy policy) {
    const auto restored = libraries_.Restore(codes, policy);
    return restored ? "" : restored.error();
  }
  // Returns the names of all libraries and functions: "a(f g) b(h)".
  std::string All() {
    std::string all;
    size_t functions = 0;
    for (const auto& [name, library] : libraries_.All()) {
      all += all.empty() ? "" : " ";
      all += name + "(";
      for (const auto& function : library->functions) {
        EXPECT_EQ(libraries_.FindFunction(function->name), function.get());
        all += (all.back() == '(' ? "" : " ") + function->name;
        ++functions;
      }
      all += ")";
    }
    EXPECT_EQ(libraries_.FunctionCount(), functions);
    return all;
  }

  FakeScriptHost host_;
  FunctionLibraries libraries_{host_, HashKey{}};
};

constexpr char kBadName[] =
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";

TEST_F(FunctionLibraryTest, KeepsWhatWasRegistered) {
  const std::string code = Code("lib",
                                "redis.register_function('f', function() end)\n"
                                "redis.register_function{function_name='G', callback=function() end,\n"
                                "  description='what it does', flags={'allow-stale', 'NO-writes'}}");
  ASSERT_EQ(Load(code), "lib");
  EXPECT_EQ(All(), "lib(f G)");
  EXPECT_EQ(libraries_.All().at("lib")->code, code);
  const ScriptFunction* f = libraries_.FindFunction("F");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->name, "f");
  EXPECT_EQ(f->description, std::nullopt);
  EXPECT_EQ(f->flags, 0u);
  const ScriptFunction* g = libraries_.FindFunction("g");
  ASSERT_NE(g, nullptr);
  EXPECT_EQ(g->description, "what it does");
  EXPECT_EQ(g->flags, uint32_t{kScriptNoWrites} | uint32_t{kScriptAllowStale});
  EXPECT_EQ(libraries_.FindFunction("h"), nullptr);
}

TEST_F(FunctionLibraryTest, RefusesBadFirstLines) {
  EXPECT_EQ(Load(""), "Missing library metadata");
  EXPECT_EQ(Load(" #!lua name=x\n"), "Missing library metadata");
  EXPECT_EQ(Load("#!"), "Invalid library metadata");
  EXPECT_EQ(Load("#!lua name=x"), "Invalid library metadata");
  EXPECT_EQ(Load("#!lua name=\"x\ny"), "Invalid library metadata");
  EXPECT_EQ(Load("#!lua\n"), "Library name was not given");
  EXPECT_EQ(Load("#!\n"), "Library name was not given");
  EXPECT_EQ(Load("#!lua name=x name=y\n"), "Invalid metadata value, name argument was given multiple times");
  EXPECT_EQ(Load("#!lua name=x foo\n"), "Invalid metadata value given: foo");
  EXPECT_EQ(Load("#!lua flags=no-writes name=x\n"), "Invalid metadata value given: flags=no-writes");
  EXPECT_EQ(Load("#!Lua2 name=x\n"), "Engine 'Lua2' not found");
  EXPECT_EQ(Load("#! name=x\n"), "Engine '' not found");
  EXPECT_EQ(Load("#!lua name=\n"), kBadName);
  EXPECT_EQ(Load("#!lua name=x-y\n"), kBadName);
  EXPECT_EQ(Load("#!foo name=x-y\n"), kBadName);
  EXPECT_EQ(All(), "");
}

TEST_F(FunctionLibraryTest, FirstLinesHaveALimit) {
  const auto padded = [](size_t bytes) {
    return "#!lua name=x" + std::string(bytes - 12, ' ') + "\n" + Registers("f");
  };
  EXPECT_EQ(Load(padded(65537)), "Invalid library metadata");
  EXPECT_EQ(Load(padded(65536)), "x");
  EXPECT_EQ(ReadScriptHeader(padded(65537)).error(), "Invalid script shebang");
}

TEST_F(FunctionLibraryTest, ReadsFirstLinesInAnyCase) {
  EXPECT_EQ(Load("#!LUA  NAME=x7 \n" + Registers("a")), "x7");
  EXPECT_EQ(Load("#!lua \"name=X7\"\n" + Registers("b")), "X7");
  EXPECT_EQ(All(), "X7(b) x7(a)");
}

TEST_F(FunctionLibraryTest, SaysWhatIsWrongWithTheCode) {
  EXPECT_EQ(Try("local a = {}"), "No functions registered");
  EXPECT_EQ(Try("bad syntax"), "Error compiling function: user_function:2: '=' expected near 'syntax'");
  EXPECT_EQ(Try("\nlocal t = nil\nt.x = 1"),
            "Error registering functions: ERR user_function:4: attempt to index local 't' (a nil value)");
  EXPECT_EQ(Try(Registers("f") + "nosuch()"),
            "Error registering functions: ERR user_function:3: Script attempted to access nonexistent global variable "
            "'nosuch'");
  EXPECT_EQ(All(), "");
}

struct Refused {
  const char* call;
  const char* error;
};

TEST_F(FunctionLibraryTest, RefusesBadRegistrations) {
  constexpr Refused kRefused[] = {
      {"()", "wrong number of arguments to redis.register_function"},
      {"('x', function() end, nil)", "wrong number of arguments to redis.register_function"},
      {"('x')",
       "calling redis.register_function with a single argument is only applicable to Lua table (representing named "
       "arguments)."},
      {"(nil, function() end)", "first argument to redis.register_function must be a string"},
      {"({}, function() end)", "first argument to redis.register_function must be a string"},
      {"('x', 1)", "second argument to redis.register_function must be a function"},
      {"('x', nil)", "second argument to redis.register_function must be a function"},
      {"{}", "redis.register_function must get a function name argument"},
      {"{callback=function() end}", "redis.register_function must get a function name argument"},
      {"{function_name='x'}", "redis.register_function must get a callback argument"},
      {"{function_name={}}", "function_name argument given to redis.register_function must be a string"},
      {"{description={}}", "description argument given to redis.register_function must be a string"},
      {"{callback=1}", "callback argument given to redis.register_function must be a function"},
      {"{flags=5}", "flags argument to redis.register_function must be a table representing function flags"},
      {"{flags={'bla'}}", "unknown flag given"},
      {"{flags={5}}", "unknown flag given"},
      {"{flags={{}}}", "unknown flag given"},
      {"{bla=1}", "unknown argument given to redis.register_function"},
      {"{1}", "unknown argument given to redis.register_function"},
      {"{[true]=1}", "named argument key given to redis.register_function is not a string"},
      {"{[{}]=1}", "named argument key given to redis.register_function is not a string"},
      {"('x-y', function() end)", kBadName},
      {"('', function() end)", kBadName},
  };
  for (const Refused& refused : kRefused) {
    EXPECT_EQ(Try(std::string("redis.register_function") + refused.call),
              std::string("Error registering functions: ERR ") + refused.error)
        << refused.call;
  }
  EXPECT_EQ(All(), "");
}

TEST_F(FunctionLibraryTest, AcceptsNumbersAsNames) {
  EXPECT_EQ(Try("redis.register_function(1, function() end)\n"
                "redis.register_function{function_name=25, callback=redis.log, description=3}"),
            "tried");
  EXPECT_EQ(All(), "tried(1 25)");
  EXPECT_EQ(libraries_.FindFunction("25")->description, "3");
}

TEST_F(FunctionLibraryTest, RefusesDuplicatesWithinALibrary) {
  constexpr char kDuplicate[] = "Error registering functions: ERR Function already exists in the library";
  EXPECT_EQ(Try(Registers("f") + Registers("f")), kDuplicate);
  EXPECT_EQ(Try(Registers("f") + Registers("F")), kDuplicate);
}

TEST_F(FunctionLibraryTest, ShowsLittleToCodeThatIsLoaded) {
  for (const char* name : {"call", "pcall", "setresp", "set_repl", "replicate_commands", "breakpoint", "debug",
                           "sha1hex", "error_reply", "status_reply", "acl_check_cmd", "REPL_ALL"}) {
    EXPECT_EQ(Try(std::string("local x = redis.") + name),
              std::string("Error registering functions: ERR user_function:2: Script attempted to access nonexistent "
                          "global variable '") +
                  name + "'");
  }
  for (const char* name : {"string", "math", "table", "cjson", "tonumber", "pcall", "error", "_G", "setmetatable",
                           "KEYS", "loadstring", "coroutine", "bit", "getmetatable", "rawset"}) {
    EXPECT_EQ(Try(std::string("local x = ") + name),
              std::string("Error registering functions: ERR user_function:2: Script attempted to access nonexistent "
                          "global variable '") +
                  name + "'");
  }
}

TEST_F(FunctionLibraryTest, AllowsNoChanges) {
  constexpr char kReadOnly[] = "Error registering functions: ERR user_function:2: Attempt to modify a readonly table";
  EXPECT_EQ(Try("x = 1"), kReadOnly);
  EXPECT_EQ(Try("redis = 1"), kReadOnly);
  EXPECT_EQ(Try("redis.x = 1"), kReadOnly);
  EXPECT_EQ(Try("redis.register_function = 1"), kReadOnly);
}

TEST_F(FunctionLibraryTest, LogsWhileLoading) {
  EXPECT_EQ(Try("redis.log(redis.LOG_WARNING, 'loading', redis.REDIS_VERSION_NUM >= 0x00070000)\n" + Registers("f")),
            "tried");
  EXPECT_THAT(host_.logged, testing::ElementsAre("loading"));
  EXPECT_EQ(Try("redis.log(1)"), "Error registering functions: ERR redis.log() requires two arguments or more.");
  EXPECT_EQ(Try("redis.log('x', 'y')"),
            "Error registering functions: ERR First argument must be a number (log level).");
  EXPECT_EQ(Try("redis.log(9, 'y')"), "Error registering functions: ERR Invalid debug level.");
}

TEST_F(FunctionLibraryTest, CutsLongTextsInTheLog) {
  EXPECT_EQ(Try("local x = ('x'):rep(10000000) redis.log(redis.LOG_WARNING, 'a', x) "
                "redis.log(redis.LOG_WARNING, x, x, x)\n" +
                Registers("f")),
            "tried");
  ASSERT_EQ(host_.logged.size(), 2u);
  EXPECT_EQ(host_.logged[0], "a " + std::string(4094, 'x'));
  EXPECT_EQ(host_.logged[1], std::string(4096, 'x'));
}

TEST_F(FunctionLibraryTest, EndsCodeThatTakesTooLong) {
  host_.step_ms = 1;
  EXPECT_EQ(Try("while true do end"), "Error registering functions: ERR FUNCTION LOAD timeout");
  EXPECT_GT(host_.now_ms, FunctionLibraries::kLoadTimeoutMs);
  EXPECT_EQ(Try(Registers("f")), "tried");  // nothing of the first attempt is left
}

// A library that a server once accepted may take longer when it is loaded again.
TEST_F(FunctionLibraryTest, ALibraryThatWasAcceptedHasMoreTime) {
  host_.step_ms = 1;
  const std::string code = Code("slow", "for i = 1, 20000000 do end\n" + Registers("f"));
  EXPECT_FALSE(libraries_.Load(code, OnExisting::kRefuse));
  const int64_t refused_ms = host_.now_ms;
  ASSERT_LT(refused_ms, 2 * FunctionLibraries::kLoadTimeoutMs);
  EXPECT_TRUE(libraries_.Load(code, OnExisting::kRefuse, FunctionLibraries::Origin::kAccepted));
  EXPECT_GT(host_.now_ms - refused_ms, FunctionLibraries::kLoadTimeoutMs);
}

// The timer of the first thread does not reach the others. The loop ends by itself, so that the test fails instead of
// hanging.
TEST_F(FunctionLibraryTest, EndsCodeThatTakesTooLongOnEachThread) {
  constexpr char kTimeout[] = "Error registering functions: ERR FUNCTION LOAD timeout";
  host_.step_ms = 1000;
  const std::string slow = "for i = 1, 500000000 do end\n" + Registers("f");
  EXPECT_EQ(Try(slow), kTimeout);
  for (int i = 0; i < 2; ++i) std::thread([&] { EXPECT_EQ(Try(slow), kTimeout); }).join();
  EXPECT_EQ(Try(slow), kTimeout);
}

// Setting a hook visits all open calls, which may take longer than the interval between ticks.
TEST_F(FunctionLibraryTest, DeepCallsGoOnWhileTheyAreWatched) {
  const auto loaded = libraries_.Load(
      "#!lua name=deep\nlocal function f() return 1 + f() end "
      "redis.register_function('f', function() end) f()",
      OnExisting::kRefuse);
  EXPECT_FALSE(loaded);
}

// Libraries that are restored together share one time limit, since no other client is served meanwhile. The loops are
// long enough for several readings of the clock on any machine.
TEST_F(FunctionLibraryTest, RestoredLibrariesHaveALimitTogether) {
  std::vector<std::string> codes;
  for (const char* name : {"a", "b", "c", "d"})
    codes.push_back(Code(name, "for i = 1, 30000000 do end\n" + Registers(name)));
  host_.step_ms = 400;
  const auto restored = libraries_.Restore(codes, Policy::kAppend);
  EXPECT_EQ(restored ? "" : restored.error(), "Error registering functions: ERR FUNCTION LOAD timeout");
  EXPECT_EQ(All(), "") << "all or none";
}

// A copy shares the libraries. It is not loaded again when it is put back, so it needs no time.
TEST_F(FunctionLibraryTest, ACopyIsPutBackWithoutLoading) {
  Load(Code("a", Registers("f")));
  Load(Code("b", Registers("g")));
  const auto before = libraries_.Copy();
  EXPECT_TRUE(before.IsShared());
  host_.step_ms = 10'000;
  for (int round = 0; round < 3; ++round) {
    libraries_.Delete("a");
    Load(Code("c", Registers("f")));
    if (round == 1) libraries_.Take();
    EXPECT_NE(All(), "a(f) b(g)");
    const int64_t now_ms = host_.now_ms;
    libraries_.PutBack(before);
    EXPECT_EQ(host_.now_ms, now_ms);
    EXPECT_EQ(All(), "a(f) b(g)");
    EXPECT_EQ(libraries_.FindFunction("f")->library->name, "a");
  }
  EXPECT_FALSE(libraries_.MakeEmpty().Take().IsShared());
}

TEST_F(FunctionLibraryTest, OnlyContentsThatNobodyElseUsesAreNotShared) {
  Load(Code("a", Registers("f")));
  std::optional<FunctionLibraries::Contents> copy = libraries_.Copy();
  libraries_.Delete("a");  // now only the copy has it
  FunctionLibraries::Contents taken = libraries_.Take();
  EXPECT_TRUE(taken.IsShared());
  copy.reset();
  EXPECT_FALSE(taken.IsShared());
}

// No hook runs in libraries as short as these.
TEST_F(FunctionLibraryTest, AnyNumberOfShortLibrariesHasTheLimitTogether) {
  host_.step_ms = 1;
  std::vector<std::string> codes;
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    codes.push_back(Code("lib" + number, Registers("f" + number)));
  }
  const auto restored = libraries_.Restore(codes, Policy::kAppend);
  EXPECT_EQ(restored ? "" : restored.error(), "Error registering functions: ERR FUNCTION LOAD timeout");
  EXPECT_EQ(All(), "");
  EXPECT_LT(host_.now_ms, 2 * FunctionLibraries::kLoadTimeoutMs);
}

TEST_F(FunctionLibraryTest, LibrariesOfASharedLimitHaveOneLimitTogether) {
  host_.step_ms = 1;
  {
    const FunctionLibraries::SharedLimit shared(libraries_);
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(Try("while true do end"), "Error registering functions: ERR FUNCTION LOAD timeout");
    EXPECT_LT(host_.now_ms, 2 * FunctionLibraries::kLoadTimeoutMs);
    EXPECT_FALSE(libraries_.Restore(std::vector{Code("a", Registers("f"))}, Policy::kAppend));
  }
  EXPECT_EQ(Try(Registers("f")), "tried");
}

TEST_F(FunctionLibraryTest, ASharedLimitIsAlsoForLibrariesThatAnotherServerHasAccepted) {
  host_.step_ms = 1;
  const FunctionLibraries::SharedLimit shared(libraries_);
  for (int i = 0; i < 5; ++i) {
    const auto loaded = libraries_.Load(Code("a", "while true do end"), FunctionLibraries::OnExisting::kRefuse,
                                        FunctionLibraries::Origin::kAccepted);
    EXPECT_FALSE(loaded);
  }
  EXPECT_LT(host_.now_ms, 20 * FunctionLibraries::kLoadTimeoutMs);
}

// The copy of a description does not count for the memory limit of scripts.
TEST_F(FunctionLibraryTest, DescriptionsHaveALimit) {
  const auto code = [](size_t bytes) {
    return Code("a", "redis.register_function{function_name='f', callback=redis.log, description='" +
                         std::string(bytes, 'x') + "'}");
  };
  EXPECT_THAT(
      Load(code(65537)),
      testing::HasSubstr("description argument given to redis.register_function must not be longer than 65536"));
  EXPECT_EQ(Load(code(65536)), "a");
}

TEST_F(FunctionLibraryTest, AllDescriptionsOfALibraryHaveALimit) {
  const auto code = [](int functions) {
    return Code("a", "for i = 1, " + std::to_string(functions) +
                         " do redis.register_function{function_name='f' .. i, callback=redis.log, "
                         "description=('x'):rep(65536)} end");
  };
  EXPECT_THAT(Load(code(256)), testing::HasSubstr("Names and descriptions of a library must not be longer than "
                                                  "16777216 bytes together"));
  EXPECT_EQ(Load(code(255)), "a");
}

TEST_F(FunctionLibraryTest, NamesHaveALimit) {
  const auto named = [](size_t bytes) {
    return "redis.register_function{callback=redis.log, FUNCTION_name=('x'):rep(" + std::to_string(bytes) + ")}";
  };
  const auto positional = [](size_t bytes) {
    return "redis.register_function(('x'):rep(" + std::to_string(bytes) + "), function() end)";
  };
  EXPECT_THAT(
      Try(named(65537)),
      testing::HasSubstr("function_name argument given to redis.register_function must not be longer than 65536 byte"));
  EXPECT_THAT(Try(positional(65537)),
              testing::HasSubstr("first argument to redis.register_function must not be longer than 65536 bytes"));
  EXPECT_EQ(Try(named(65536)), "tried");
  EXPECT_EQ(Try(positional(65536)), "tried");
  EXPECT_EQ(Try("redis.register_function{flags={('x'):rep(65537)}}"),
            "Error registering functions: ERR unknown flag given");
}

// The table has a long name under several spellings of `function_name`. The log makes the timer of the script tick, so
// that the hook is set, and then makes the time limit pass immediately before the call.
TEST_F(FunctionLibraryTest, RegisteringAFunctionHasTheTimeLimit) {
  host_.on_log = [this](Bytes text) {
    constexpr std::chrono::milliseconds kTick{10};
    for (int i = 0; text == "tick" && i < 5; ++i) std::this_thread::sleep_for(kTick);
    if (text == "late") host_.now_ms += 2 * FunctionLibraries::kLoadTimeoutMs;
  };
  const std::string code =
      "local name = ('x'):rep(65536)\n"
      "local named = {callback = redis.log, function_name = name, Function_name = name, fUnction_name = name}\n"
      "redis.log(1, 'tick')\n"
      "redis.log(1, 'late')\n"
      "redis.register_function(named)";
  EXPECT_EQ(Try(code), "Error registering functions: ERR FUNCTION LOAD timeout");
}

// A long comment, which only the compiler reads: compiling can take forever without running any code.
TEST_F(FunctionLibraryTest, TheLimitIsForTheCompilerToo) {
  host_.step_ms = 1000;
  std::string code = Registers("f");
  for (int i = 0; i < 2'000'000; ++i) code += "local x = {1, 2, 3, 'text'} do local y = x end\n";
  EXPECT_EQ(Try("do " + code + " end"), "Error compiling function: FUNCTION LOAD timeout");
  host_.step_ms = 0;
  EXPECT_EQ(Try(Registers("f")), "tried");
}

TEST_F(FunctionLibraryTest, KeepsNamesApart) {
  EXPECT_EQ(Load(Code("a", Registers("f"))), "a");
  EXPECT_EQ(Load(Code("a", Registers("g"))), "Library 'a' already exists");
  EXPECT_EQ(Load(Code("A", Registers("f"))), "Function f already exists");
  EXPECT_EQ(Load(Code("A", Registers("g") + Registers("F"))), "Function F already exists");
  EXPECT_EQ(Load(Code("A", Registers("g"))), "A");
  EXPECT_EQ(All(), "A(g) a(f)");
}

TEST_F(FunctionLibraryTest, ReplacesOrKeepsTheOldOne) {
  Load(Code("lib", Registers("f") + Registers("g")));
  Load(Code("other", Registers("h")));
  const std::string before = All();
  EXPECT_EQ(Load(Code("lib", "bad syntax"), OnExisting::kReplace).substr(0, 5), "Error");
  EXPECT_EQ(Load(Code("lib", "local x"), OnExisting::kReplace), "No functions registered");
  EXPECT_EQ(Load(Code("lib", Registers("n") + "x()"), OnExisting::kReplace).substr(0, 5), "Error");
  EXPECT_EQ(Load(Code("lib", Registers("n") + Registers("H")), OnExisting::kReplace), "Function H already exists");
  EXPECT_EQ(All(), before);
  EXPECT_EQ(Load(Code("lib", Registers("g") + Registers("n")), OnExisting::kReplace), "lib");
  EXPECT_EQ(All(), "lib(g n) other(h)");
}

TEST_F(FunctionLibraryTest, DeletesByExactName) {
  Load(Code("lib", Registers("f")));
  EXPECT_FALSE(libraries_.Delete("LIB"));
  EXPECT_TRUE(libraries_.Delete("lib"));
  EXPECT_FALSE(libraries_.Delete("lib"));
  EXPECT_EQ(All(), "");
  EXPECT_EQ(libraries_.UsedBytes(), 0u);
}

TEST_F(FunctionLibraryTest, RestoresAllOrNone) {
  const std::string a = Code("a", Registers("f"));
  const std::string b = Code("b", Registers("g"));
  Load(a);
  EXPECT_EQ(Restore({b, a}, Policy::kAppend), "Library a already exists");
  EXPECT_EQ(Restore({b, Code("c", Registers("F"))}, Policy::kReplace).substr(0, 9), "Function ");
  EXPECT_EQ(Restore({b, "#!lua"}, Policy::kFlush), "Invalid library metadata");
  EXPECT_EQ(Restore({b, b}, Policy::kFlush), "Library 'b' already exists");
  EXPECT_EQ(Restore({b, Code("c", Registers("g"))}, Policy::kFlush), "Function g already exists");
  EXPECT_EQ(All(), "a(f)");
  EXPECT_EQ(Restore({b}, Policy::kAppend), "");
  EXPECT_EQ(All(), "a(f) b(g)");
}

TEST_F(FunctionLibraryTest, RestoresInPlaceOfOthers) {
  Load(Code("a", Registers("f")));
  Load(Code("b", Registers("g")));
  // Two libraries that exchange their functions do not collide with any library that stays.
  EXPECT_EQ(Restore({Code("a", Registers("g")), Code("b", Registers("f"))}, Policy::kReplace), "");
  EXPECT_EQ(All(), "a(g) b(f)");
  EXPECT_EQ(Restore({Code("c", Registers("f"))}, Policy::kFlush), "");
  EXPECT_EQ(All(), "c(f)");
  EXPECT_EQ(Restore({}, Policy::kFlush), "");
  EXPECT_EQ(All(), "");
}

TEST_F(FunctionLibraryTest, TakesOutEverything) {
  Load(Code("a", Registers("f")));
  EXPECT_GT(libraries_.UsedBytes(), 0u);
  EXPECT_GT(libraries_.EngineBytes(), 0u);
  const FunctionLibraries::Contents contents = libraries_.Take();
  EXPECT_EQ(contents.loaded.libraries.size(), 1u);
  EXPECT_EQ(All(), "");
  EXPECT_EQ(libraries_.UsedBytes(), 0u);
  EXPECT_EQ(libraries_.EngineBytes(), 0u);
  EXPECT_EQ(Load(Code("a", Registers("f"))), "a");
}

// Replacing a library repeatedly leaves nothing in the Lua state.
TEST_F(FunctionLibraryTest, ReleasesMemory) {
  const std::string body = "local t = {'" + std::string(100'000, 'x') + "'}\n";
  for (int i = 0; i < 200; ++i) {
    const std::string padding(static_cast<size_t>(i % 7), ' ');
    ASSERT_EQ(Load(Code("lib", padding + body + Registers("f")), OnExisting::kReplace), "lib");
    for (int step = 0; step < 100; ++step) libraries_.CollectGarbage();
  }
  EXPECT_LT(libraries_.EngineBytes(), 4u << 20);
}

// A library that keeps 6 MB until its function `name` is called.
std::string Hoard(const std::string& name) {
  return Code(name, "local t = {}\nfor i = 1, 80000 do t[i] = {} end\nredis.register_function('" + name +
                        "', function() t = nil return 1 end)");
}

// All libraries of clients together may add script-memory-limit, for as long as they exist: what their functions have
// freed is needed again when the libraries are loaded from a file or by a replica. There each library has the limit by
// itself.
TEST_F(FunctionLibraryTest, LibrariesOfClientsHaveAMemoryLimitTogether) {
  host_.memory_limit = 16'000'000;
  EXPECT_EQ(Load(Hoard("a")), "a");
  EXPECT_EQ(Load(Hoard("b")), "b");
  EXPECT_THAT(Load(Hoard("c")), testing::HasSubstr("not enough memory"));
  BlockPool pool;
  for (const char* name : {"a", "b"}) {
    ReplyBuffer out(pool);
    Reply reply(out, RespVersion::kResp2);
    const ScriptFunction* const function = libraries_.FindFunction(name);
    EXPECT_FALSE(libraries_.engine().RunFunction({function->function, function->name, {}, {}}, reply));
  }
  for (int step = 0; step < 1000; ++step) libraries_.CollectGarbage();
  EXPECT_THAT(Load(Hoard("c")), testing::HasSubstr("not enough memory"));
  EXPECT_EQ(Load(Hoard("a"), OnExisting::kReplace), "a");
  EXPECT_EQ(Restore({Hoard("b"), Hoard("c")}, Policy::kFlush), "");
  libraries_.Delete("b");
  EXPECT_EQ(Load(Hoard("d")), "d");
  for (const char* name : {"e", "f", "g", "h"})
    EXPECT_TRUE(libraries_.Load(Hoard(name), OnExisting::kRefuse, FunctionLibraries::Origin::kAccepted));
}

TEST_F(FunctionLibraryTest, ScriptsThatAreKeptTakeNoMemoryFromOthers) {
  host_.memory_limit = 16'000'000;
  ScriptCache scripts(host_, HashKey{});
  for (int i = 0; i < 30; ++i) {
    const std::string body = "return '" + std::to_string(i) + std::string(1'000'000, 'x') + "'";
    ASSERT_TRUE(scripts.Add(body, ScriptCache::Retention::kPermanent)) << i;
  }
  const auto script = scripts.Add("return #string.rep('x', 6000000)", ScriptCache::Retention::kEvictable);
  ASSERT_TRUE(script);
  BlockPool pool;
  ReplyBuffer out(pool);
  Reply reply(out, RespVersion::kResp2);
  EXPECT_FALSE(scripts.engine().RunScript({script.value()->function, script.value()->sha, {}, {}}, reply));
  EXPECT_EQ(out.Text(), ":6000000\r\n");
}

// A step of the collector takes about a millisecond in such a Lua state.
TEST_F(FunctionLibraryTest, MuchLiveDataDoesNotSlowDownEachCall) {
  ASSERT_EQ(Load(Code("lib",
                      "local t = {}\nfor i = 1, 1300000 do t[i] = {} end\n"
                      "redis.register_function('f', function() return #t end)")),
            "lib");
  ASSERT_GT(libraries_.EngineBytes(), size_t{80} << 20);
  for (int step = 0; step < 10'000; ++step) libraries_.CollectGarbage();
  const ScriptFunction* const function = libraries_.FindFunction("f");
  BlockPool pool;
  ReplyBuffer out(pool);
  Reply reply(out, RespVersion::kResp2);
  const std::clock_t began = std::clock();
  for (int i = 0; i < 300; ++i) libraries_.engine().RunFunction({function->function, function->name, {}, {}}, reply);
  EXPECT_LT(std::clock() - began, CLOCKS_PER_SEC / 10);
}

}  // namespace
}  // namespace respite
