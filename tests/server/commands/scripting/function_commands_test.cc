// FUNCTION and FCALL: loading and removing libraries, running functions. tests/scripting/function_library_test.cc tests
// what code may do while it is loaded.
#include <ctime>

#include "base/crc64.h"
#include "base/str_cat.h"
#include "persistence/dump_payload.h"
#include "persistence/function_payload.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using namespace std::string_literals;

std::string Code(const std::string& name, const std::string& body) { return "#!lua name=" + name + "\n" + body; }

// The code of a library that has one function with this body.
std::string Library(const std::string& name, const std::string& function, const std::string& body) {
  return Code(name, "redis.register_function('" + function + "', function(keys, args) " + body + " end)");
}

// A payload of FUNCTION DUMP: libraries, followed by version and checksum.
std::string LibraryPayload(std::string libraries, char version = 11) {
  libraries += version;
  libraries += '\0';
  const uint64_t checksum = Crc64(0, libraries);
  for (int shift = 0; shift < 64; shift += 8) libraries += static_cast<char>(checksum >> shift);
  return libraries;
}

class FunctionCommands : public CommandTest {
 protected:
  explicit FunctionCommands(std::vector<std::string> directives = {}) : CommandTest(std::move(directives)) {}

  TestReply Load(const std::string& code) { return Run({"FUNCTION", "LOAD", code}); }
  // Defines the function f.
  void Define(const std::string& body, const std::string& flags = "") {
    ASSERT_THAT(Run({"FUNCTION", "LOAD", "REPLACE",
                     Code("lib", "redis.register_function{function_name='f', callback=function(keys, args) " + body +
                                     " end, flags={" + flags + "}}")}),
                Bulk("lib"));
  }
  // Defines f and runs it without keys.
  TestReply Call(const std::string& body) {
    Define(body);
    return Run("FCALL f 0");
  }
  std::vector<std::string> LibraryNames() {
    std::vector<std::string> names;
    const TestReply list = Run("FUNCTION LIST");
    for (size_t i = 0; i < list.Size(); ++i) names.push_back(list[i][1].Text());
    return names;
  }
  std::string Dump() { return Run("FUNCTION DUMP").Text(); }
  TestReply Restore(const std::string& payload, Bytes policy) { return Run({"FUNCTION", "RESTORE", payload, policy}); }
  std::string Info(Bytes field) {
    const std::string info = "\n" + Run("INFO everything").Text();
    const size_t begin = info.find("\n" + std::string(field) + ":");
    if (begin == std::string::npos) return "missing";
    const size_t value = begin + field.size() + 2;
    return info.substr(value, info.find('\r', value) - value);
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, FunctionCommands, BothVersions(), VersionName);

// ---------------------------------------------------------------------------------------------------------------------
// LOAD, DELETE, FLUSH

TEST_P(FunctionCommands, LoadGivesTheName) {
  EXPECT_THAT(Load(Library("lib", "f", "return 1")), Bulk("lib"));
  EXPECT_THAT(Load(Library("lib", "f", "return 2")), Error("ERR Library 'lib' already exists"));
  EXPECT_THAT(Run({"FUNCTION", "LOAD", "replace", Library("lib", "f", "return 2")}), Bulk("lib"));
  EXPECT_THAT(Run({"FUNCTION", "LOAD", "REPLACE", "REPLACE", Library("lib", "f", "return 3")}), Bulk("lib"));
  EXPECT_THAT(Run("FCALL f 0"), Int(3));
}

TEST_P(FunctionCommands, LoadRefuses) {
  EXPECT_THAT(Run("FUNCTION LOAD"), Error("ERR wrong number of arguments for 'function|load' command"));
  EXPECT_THAT(Run("FUNCTION LOAD REPLACE"), Error("ERR Missing library metadata"));
  EXPECT_THAT(Run("FUNCTION LOAD bla x"), Error("ERR Unknown option given: bla"));
  EXPECT_THAT(Run("FUNCTION LOAD REPLACE bla x"), Error("ERR Unknown option given: bla"));
  EXPECT_THAT(Load("#!lua name=lib\n"), Error("ERR No functions registered"));
  EXPECT_THAT(Load(Code("lib", "redis.call('PING')")),
              Error("ERR Error registering functions: ERR user_function:2: Script attempted to access nonexistent "
                    "global variable 'call'"));
  EXPECT_THAT(LibraryNames(), IsEmpty());
  EXPECT_THAT(Journaled(), IsEmpty());
}

TEST_P(FunctionCommands, LoadsAreJournaledAsTheyCame) {
  const std::string code = Library("lib", "f", "return 1");
  Load(code);
  Run({"FUNCTION", "LOAD", "REPLACE", code});
  Load(code);
  Run("FUNCTION DELETE nosuch");
  Run("FUNCTION DELETE lib");
  Run("FUNCTION FLUSH");
  EXPECT_THAT(Journaled(), ElementsAre("0: FUNCTION LOAD " + code, "0: FUNCTION LOAD REPLACE " + code,
                                       "0: FUNCTION DELETE lib", "0: FUNCTION FLUSH"));
  EXPECT_EQ(Info("rdb_changes_since_last_save"), "4");
}

TEST_P(FunctionCommands, DeleteTakesTheExactName) {
  Load(Library("lib", "f", "return 1"));
  EXPECT_THAT(Run("FUNCTION DELETE LIB"), Error("ERR Library not found"));
  EXPECT_THAT(Run("FUNCTION DELETE lib"), Ok());
  EXPECT_THAT(Run("FUNCTION DELETE lib"), Error("ERR Library not found"));
  EXPECT_THAT(Run("FCALL f 0"), Error("ERR Function not found"));
}

TEST_P(FunctionCommands, FlushTakesAMode) {
  for (const char* line : {"FUNCTION FLUSH", "FUNCTION FLUSH sync", "FUNCTION FLUSH ASYNC"}) {
    Load(Library("lib", "f", "return 1"));
    EXPECT_THAT(Run(line), Ok()) << line;
    EXPECT_THAT(LibraryNames(), IsEmpty()) << line;
    EXPECT_THAT(Run(line), Ok()) << line;
  }
  EXPECT_THAT(Run("FUNCTION FLUSH x"), Error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option"));
  EXPECT_THAT(Run("FUNCTION FLUSH sync x"),
              Error("ERR unknown subcommand or wrong number of arguments for 'FLUSH'. Try FUNCTION HELP."));
}

TEST_P(FunctionCommands, FlushallLeavesFunctions) {
  Load(Library("lib", "f", "return 1"));
  Run("FLUSHALL");
  EXPECT_THAT(Run("FCALL f 0"), Int(1));
}

// ---------------------------------------------------------------------------------------------------------------------
// LIST, STATS, HELP

TEST_P(FunctionCommands, ListShowsLibrariesAndFunctions) {
  EXPECT_THAT(Run("FUNCTION LIST"), EmptyArray());
  const std::string code = Code("lib",
                                "redis.register_function{function_name='f', callback=function() end, description='it', "
                                "flags={'allow-stale','no-writes','allow-oom','no-cluster','allow-cross-slot-keys'}}\n"
                                "redis.register_function('g', function() end)");
  Load(code);
  const auto f = MapOf({{Bulk("name"), Bulk("f")},
                        {Bulk("description"), Bulk("it")},
                        {Bulk("flags"), SetOf({Simple("no-writes"), Simple("allow-oom"), Simple("allow-stale"),
                                               Simple("no-cluster"), Simple("allow-cross-slot-keys")})}});
  const auto g = MapOf({{Bulk("name"), Bulk("g")}, {Bulk("description"), Nil()}, {Bulk("flags"), SetOf({})}});
  EXPECT_THAT(Run("FUNCTION LIST"), ArrayOf(MapOf({{Bulk("library_name"), Bulk("lib")},
                                                   {Bulk("engine"), Bulk("LUA")},
                                                   {Bulk("functions"), ArrayOf(f, g)}})));
  EXPECT_THAT(Run("FUNCTION LIST withcode"), ArrayOf(MapOf({{Bulk("library_name"), Bulk("lib")},
                                                            {Bulk("engine"), Bulk("LUA")},
                                                            {Bulk("functions"), ArrayOf(f, g)},
                                                            {Bulk("library_code"), Bulk(code)}})));
}

TEST_P(FunctionCommands, ListTakesAPattern) {
  Load(Library("lib1", "f", "return 1"));
  Load(Library("other", "g", "return 1"));
  EXPECT_EQ(Run("FUNCTION LIST").Size(), 2u);
  EXPECT_EQ(Run("FUNCTION LIST LIBRARYNAME LIB*").Size(), 1u);
  EXPECT_EQ(Run("FUNCTION LIST WITHCODE libraryname *").Size(), 2u);
  EXPECT_THAT(Run("FUNCTION LIST LIBRARYNAME x*"), EmptyArray());
  EXPECT_THAT(Run("FUNCTION LIST LIBRARYNAME"), Error("ERR library name argument was not given"));
  EXPECT_THAT(Run("FUNCTION LIST WITHCODE WITHCODE"), Error("ERR Unknown argument WITHCODE"));
  EXPECT_THAT(Run("FUNCTION LIST LIBRARYNAME a LIBRARYNAME b"), Error("ERR Unknown argument LIBRARYNAME"));
  EXPECT_THAT(Run("FUNCTION LIST bla"), Error("ERR Unknown argument bla"));
}

ReplyMatcher StatsOf(ReplyMatcher running, int64_t libraries, int64_t functions) {
  return MapOf({{Bulk("running_script"), running},
                {Bulk("engines"), MapOf({{Bulk("LUA"), MapOf({{Bulk("libraries_count"), Int(libraries)},
                                                              {Bulk("functions_count"), Int(functions)}})}})}});
}

TEST_P(FunctionCommands, StatsCounts) {
  EXPECT_THAT(Run("FUNCTION STATS"), StatsOf(Nil(), 0, 0));
  Load(Code("lib", "redis.register_function('f', function() end) redis.register_function('g', function() end)"));
  Load(Library("lib2", "h", "return 1"));
  EXPECT_THAT(Run("FUNCTION STATS"), StatsOf(Nil(), 2, 3));
  Run("FUNCTION DELETE lib");
  EXPECT_THAT(Run("FUNCTION STATS"), StatsOf(Nil(), 1, 1));
}

TEST_P(FunctionCommands, HelpNamesEverySubcommand) {
  const TestReply help = Run("FUNCTION HELP");
  std::string all;
  for (size_t i = 0; i < help.Size(); ++i) all += help[i].Text() + "\n";
  for (const char* name : {"LOAD", "DELETE", "LIST", "DUMP", "RESTORE", "FLUSH", "KILL", "STATS", "HELP"}) {
    EXPECT_THAT(all, HasSubstr("\n"s + name)) << name;
  }
}

TEST_P(FunctionCommands, InfoCountsFunctionsAndTheirMemory) {
  EXPECT_EQ(Info("number_of_libraries"), "0");
  EXPECT_EQ(Info("used_memory_vm_functions"), "0");
  EXPECT_EQ(Info("used_memory_functions"), "0");
  Load(Code("lib", "redis.register_function('f', function() end) redis.register_function('g', function() end)"));
  Run("EVAL 'return 1' 0");
  EXPECT_EQ(Info("number_of_libraries"), "1");
  EXPECT_EQ(Info("number_of_functions"), "2");
  EXPECT_EQ(Info("number_of_cached_scripts"), "1");
  const auto bytes = [&](Bytes field) { return std::stoull(Info(field)); };
  EXPECT_THAT(bytes("used_memory_vm_functions"), Gt(10'000u));
  EXPECT_THAT(bytes("used_memory_vm_eval"), Gt(10'000u));
  EXPECT_EQ(bytes("used_memory_lua"), bytes("used_memory_vm_eval"));
  EXPECT_EQ(bytes("used_memory_vm_total"), bytes("used_memory_vm_eval") + bytes("used_memory_vm_functions"));
  EXPECT_THAT(bytes("used_memory_functions"), Gt(100u));
  EXPECT_THAT(bytes("used_memory_scripts_eval"), Gt(40u));
  EXPECT_EQ(bytes("used_memory_scripts"), bytes("used_memory_scripts_eval") + bytes("used_memory_functions"));
  EXPECT_THAT(bytes("used_memory_overhead"), Gt(bytes("used_memory_vm_total") + bytes("used_memory_scripts")));
}

// ---------------------------------------------------------------------------------------------------------------------
// DUMP, RESTORE

TEST_P(FunctionCommands, DumpHasTheBytesOfRedis) {
  EXPECT_THAT(Run("FUNCTION DUMP"), Bulk(LibraryPayload("")));
  const std::string code = "#!lua name=l\nredis.register_function('f',redis.log)";
  Load(code);
  ASSERT_LT(code.size(), 64u);
  Run("CONFIG SET rdbcompression no");
  EXPECT_EQ(Dump(), LibraryPayload("\xf5"s + static_cast<char>(code.size()) + code));
}

TEST_P(FunctionCommands, RestoreReadsDumps) {
  Load(Library("a", "f", "return 'a very long text, a very long text, a very long text, a very long text'"));
  Load(Library("b", "g", "return 2"));
  const std::string dump = Dump();
  EXPECT_THAT(Run({"FUNCTION", "RESTORE", dump}), Error("ERR Library a already exists"));
  EXPECT_THAT(Restore(dump, "append"), Error("ERR Library a already exists"));
  EXPECT_THAT(Restore(dump, "replace"), Ok());
  EXPECT_EQ(Dump(), dump);
  Run("FUNCTION FLUSH");
  EXPECT_THAT(Run({"FUNCTION", "RESTORE", dump}), Ok());
  EXPECT_EQ(Dump(), dump);
  Load(Library("c", "h", "return 3"));
  EXPECT_THAT(Restore(dump, "FLUSH"), Ok());
  EXPECT_EQ(Dump(), dump);
  EXPECT_THAT(Run("FCALL g 0"), Int(2));
  EXPECT_THAT(Journaled().back(), "0: FUNCTION RESTORE " + PayloadWithVersion(dump, rdb::kVersionOf70) + " FLUSH");
}

TEST_P(FunctionCommands, RestoreRefusesCollisions) {
  Load(Library("lib", "f", "return 1"));
  const std::string dump = Dump();
  Run("FUNCTION FLUSH");
  Load(Library("other", "F", "return 2"));
  EXPECT_THAT(Restore(dump, "APPEND"), Error("ERR Function f already exists"));
  EXPECT_THAT(Restore(dump, "REPLACE"), Error("ERR Function f already exists"));
  EXPECT_THAT(LibraryNames(), ElementsAre("other"));
  EXPECT_THAT(Restore(dump, "FLUSH"), Ok());
  EXPECT_THAT(LibraryNames(), ElementsAre("lib"));
}

TEST_P(FunctionCommands, RestoreRefusesBadPayloads) {
  Load(Library("lib", "f", "return 1"));
  const std::string dump = Dump();
  constexpr char kChecksum[] = "ERR DUMP payload version or checksum are wrong";
  EXPECT_THAT(Restore("x", "FLUSH"), Error(kChecksum));
  EXPECT_THAT(Restore(std::string(20, 'x'), "FLUSH"), Error(kChecksum));
  EXPECT_THAT(Restore(LibraryPayload("", 99), "FLUSH"), Error(kChecksum));
  EXPECT_THAT(Restore(LibraryPayload("\xf6"s + "abc"), "FLUSH"), Error("ERR Pre-GA function format not supported"));
  EXPECT_THAT(Restore(LibraryPayload("\0abc"s), "FLUSH"), Error("ERR given type is not a function"));
  EXPECT_THAT(Restore(LibraryPayload("\xf5"s), "FLUSH"), Error("ERR Failed loading library payload"));
  EXPECT_THAT(Restore(LibraryPayload("\xf5\x0e"s + "abc"), "FLUSH"), Error("ERR Failed loading library payload"));
  EXPECT_THAT(Restore(LibraryPayload("\xf5\x03"s + "abc"), "FLUSH"), Error("ERR Missing library metadata"));
  const std::string twice = dump.substr(0, dump.size() - 10) + dump.substr(0, dump.size() - 10);
  EXPECT_THAT(Restore(LibraryPayload(twice), "FLUSH"), Error("ERR Library 'lib' already exists"));
  EXPECT_THAT(Restore(dump, "bla"),
              Error("ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE."));
  EXPECT_THAT(Run({"FUNCTION", "RESTORE", dump, "FLUSH", "x"}),
              Error("ERR unknown subcommand or wrong number of arguments for 'RESTORE'. Try FUNCTION HELP."));
  EXPECT_EQ(Dump(), dump);
}

// The headers of libraries are read before the time of loading is limited. A header may have 30,000 words.
TEST_P(FunctionCommands, RestoreReadsNoHeaderAfterAFaultyOne) {
  Load(Library("kept", "f", "return 1"));
  std::string words;
  while (words.size() < 60'000) words += " x";
  const std::string payload = FunctionPayload(std::vector<Bytes>(500, "#!lua" + words + "\n"), RdbCompression::kOn);
  for (const char* policy : {"APPEND", "REPLACE", "FLUSH"}) {
    const std::clock_t start = std::clock();
    EXPECT_THAT(Restore(payload, policy), Error("ERR Invalid metadata value given: x"));
    EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC / 4) << "it was 1.2 s";
  }
  EXPECT_THAT(LibraryNames(), ElementsAre("kept"));
}

// A small payload can unpack to gigabytes. It is refused before any code is loaded, whose time is limited.
TEST_P(FunctionCommands, RestoreRefusesPayloadsThatUnpackToTooMuch) {
  Load(Library("kept", "f", "return 1"));
  const std::string dump = Dump();
  constexpr size_t kMegabyte = size_t{1024} * 1024;
  const std::string code = Library("lib", "g", "return 1") + "\n--" + std::string(8 * kMegabyte, 'x');
  const std::string payload = FunctionPayload(std::vector<Bytes>{code}, RdbCompression::kOn);
  const std::string packed = payload.substr(0, payload.size() - 10);
  ASSERT_LT(packed.size(), kMegabyte / 4);
  std::string libraries;
  for (int i = 0; i < 8; ++i) libraries += packed;
  EXPECT_THAT(Restore(LibraryPayload(libraries), "FLUSH"),
              Error("ERR The libraries in the payload are too long together"));
  // Nothing is unpacked after a library that is refused.
  EXPECT_THAT(Restore(LibraryPayload("\xf5\x03"s + "abc" + libraries), "FLUSH"), Error("ERR Missing library metadata"));
  EXPECT_EQ(Dump(), dump);
  EXPECT_THAT(LibraryNames(), ElementsAre("kept"));
}

// ---------------------------------------------------------------------------------------------------------------------
// FCALL

TEST_P(FunctionCommands, FcallHandsOverKeysAndArguments) {
  Define("return {#keys, #args, keys[1], args[1], args[2]}");
  EXPECT_THAT(Run("FCALL f 1 k a b"), ArrayOf(Int(1), Int(2), Bulk("k"), Bulk("a"), Bulk("b")));
  EXPECT_THAT(Run("FCALL F 0"), ArrayOf(Int(0), Int(0)));
}

TEST_P(FunctionCommands, FcallRefuses) {
  Define("return 1");
  EXPECT_THAT(Run("FCALL f"), Error("ERR wrong number of arguments for 'fcall' command"));
  EXPECT_THAT(Run("FCALL nosuch x"), Error("ERR Function not found"));
  EXPECT_THAT(Run("FCALL_RO nosuch 0"), Error("ERR Function not found"));
  EXPECT_THAT(Run("FCALL f x"), Error("ERR Bad number of keys provided"));
  EXPECT_THAT(Run("FCALL f -1"), Error("ERR Number of keys can't be negative"));
  EXPECT_THAT(Run("FCALL f 3 x"), Error("ERR Number of keys can't be greater than number of args"));
}

TEST_P(FunctionCommands, FunctionsSeeTheWorldOfScripts) {
  EXPECT_THAT(Call("return redis.call('ECHO', string.format('%d', 3))"), Bulk("3"));
  EXPECT_THAT(Call("return cjson.encode({1, 2})"), Bulk("[1,2]"));
  EXPECT_THAT(Call("return type(redis.register_function)"), Bulk("nil"));
  EXPECT_THAT(Call("return type(redis.breakpoint) .. type(redis.debug) .. type(redis.replicate_commands)"),
              Bulk("nilnilnil"));
  EXPECT_THAT(Call("return redis.error_reply('MY error')"), Error("MY error"));
  EXPECT_THAT(Call("redis.setresp(3) return redis.call('HGETALL', 'nosuch')"), MapOf({}));
}

TEST_P(FunctionCommands, ErrorsNameTheFunction) {
  constexpr char kPlace[] = " script: f, on @user_function:2.";
  EXPECT_THAT(Call("return redis.call('nosuch')"), Error("ERR Unknown Redis command called from script"s + kPlace));
  EXPECT_THAT(Call("error('boo')"), Error("ERR user_function:2: boo"s + kPlace));
  EXPECT_THAT(Call("error({err='MY boo'})"), Error("MY boo"s + kPlace));
  EXPECT_THAT(Call("return KEYS"),
              Error("ERR user_function:2: Script attempted to access nonexistent global variable 'KEYS'"s + kPlace));
  EXPECT_THAT(Call("x = 1"), Error("ERR user_function:2: Attempt to modify a readonly table"s + kPlace));
  EXPECT_THAT(Call("redis.register_function('g', function() end)"),
              Error("ERR user_function:2: attempt to call field 'register_function' (a nil value)"s + kPlace));
}

TEST_P(FunctionCommands, FunctionsCannotUseTheLoadingApi) {
  ASSERT_THAT(Load(Code("lib",
                        "local register, api = redis.register_function, redis\n"
                        "register('f', function() register('g', function() end) end)\n"
                        "register('h', function() return api.call('PING') end)")),
              Bulk("lib"));
  EXPECT_THAT(Run("FCALL f 0"),
              Error("ERR redis.register_function can only be called on FUNCTION LOAD command script: f, on "
                    "@user_function:3."));
  EXPECT_THAT(Run("FCALL h 0"), ErrorStartsWith("ERR user_function:4: Script attempted to access nonexistent global"));
}

TEST_P(FunctionCommands, LibrariesKeepTheirOwnState) {
  Load(Code("lib", "local n = 0\nredis.register_function('count', function() n = n + 1 return n end)"));
  EXPECT_THAT(Run("FCALL count 0"), Int(1));
  EXPECT_THAT(Run("FCALL count 0"), Int(2));
}

TEST_P(FunctionCommands, EffectsAreJournaledInPlaceOfTheCall) {
  Define("redis.call('SET', keys[1], args[1]) redis.call('INCR', keys[1]) return redis.call('GET', keys[1])");
  EXPECT_THAT(Run("FCALL f 1 k 5"), Bulk("6"));
  const std::vector<std::string> lines = Journaled();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(std::vector<std::string>(lines.begin() + 1, lines.end()), ElementsAre("0: SET k 5", "0: INCR k"));
  EXPECT_EQ(server().journal().Units(), 2u);
}

TEST_P(FunctionCommands, WritesNeedPermission) {
  Define("return redis.call('SET', 'k', 1)");
  EXPECT_THAT(Run("FCALL_RO f 0"), Error("ERR Can not execute a script with write flag using *_ro command."));
  Define("return redis.call('SET', 'k', 1)", "'no-writes'");
  EXPECT_THAT(Run("FCALL f 0"), Error("ERR Write commands are not allowed from read-only scripts. script: f, on "
                                      "@user_function:2."));
  EXPECT_THAT(Run("FCALL_RO f 0"), ErrorStartsWith("ERR Write commands are not allowed"));
  Define("return redis.call('EXISTS', 'k')", "'no-writes'");
  EXPECT_THAT(Run("FCALL_RO f 0"), Int(0));
}

TEST_P(FunctionCommands, ShortMemoryStopsFunctionsThatDoNotAllowIt) {
  Run("CONFIG SET maxmemory-policy noeviction");
  Define("return redis.call('SET', 'k', 1)");
  Run("CONFIG SET maxmemory 1");
  EXPECT_THAT(Run("FCALL f 0"), ErrorStartsWith("OOM "));
  Run("CONFIG SET maxmemory 0");
  Define("return redis.call('SET', 'k', 1)", "'allow-oom'");
  Run("CONFIG SET maxmemory 1");
  EXPECT_THAT(Run("FCALL f 0"), Ok());
  EXPECT_THAT(Load(Library("lib2", "g", "return 1")), ErrorStartsWith("OOM "));
  Run("CONFIG SET maxmemory 0");
  Define("return 1", "'no-writes'");
  Run("CONFIG SET maxmemory 1");
  EXPECT_THAT(Run("FCALL f 0"), Int(1));
  Run("CONFIG SET maxmemory 0");
}

TEST_P(FunctionCommands, ScriptsAndFunctionsDoNotReachFunctions) {
  constexpr char kNotAllowed[] = "ERR This Redis command is not allowed from script";
  EXPECT_THAT(Call("return redis.call('FCALL', 'f', 0)"), ErrorStartsWith(kNotAllowed));
  EXPECT_THAT(Call("return redis.call('FUNCTION', 'LIST')"), ErrorStartsWith(kNotAllowed));
  EXPECT_THAT(Call("return redis.call('EVAL', 'return 1', 0)"), ErrorStartsWith(kNotAllowed));
}

TEST_P(FunctionCommands, TransactionsLoadAndCall) {
  const std::string code = Library("lib", "f", "return redis.call('INCR', 'n')");
  Run("MULTI");
  Load(code);
  Run("FCALL f 0");
  Run("FUNCTION STATS");
  EXPECT_THAT(Run("EXEC"), ArrayOf(Bulk("lib"), Int(1), StatsOf(Nil(), 1, 1)));
  EXPECT_THAT(Journaled(), ElementsAre("0: FUNCTION LOAD " + code, "0: INCR n"));
  EXPECT_EQ(server().journal().Units(), 1u);
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions that take long

class SlowFunctions : public FunctionCommands {
 protected:
  SlowFunctions() : FunctionCommands({"busy-reply-threshold 100", "enable-debug-command yes"}) {
    clock().AdvanceWithEachReading(1000);
  }

  // Runs a command, and runs `others` on another client as soon as other clients are served.
  TestReply While(const std::vector<std::string>& words, const std::vector<std::string>& others) {
    replies_.clear();
    server().DuringLongTasks([this, others, done = false]() mutable {
      if (std::exchange(done, true)) return;
      for (const std::string& line : others) replies_.push_back(other_.Run(line));
    });
    return Run(words);
  }
  const std::vector<TestReply>& replies() const { return replies_; }

 private:
  TestClient other_{server(), GetParam()};
  std::vector<TestReply> replies_;
};
INSTANTIATE_TEST_SUITE_P(Resp, SlowFunctions, BothVersions(), VersionName);

constexpr char kFunctionKilled[] = "ERR Script killed by user with SCRIPT KILL... script: f, on @user_function:2.";

TEST_P(SlowFunctions, AreSeenAndKilled) {
  Define("while true do end");
  EXPECT_THAT(While({"FCALL", "f", "1", "k", "a"},
                    {"PING", "FCALL f 0", "FUNCTION LIST", "SCRIPT KILL", "FUNCTION STATS", "FUNCTION KILL"}),
              Error(kFunctionKilled));
  ASSERT_EQ(replies().size(), 6u);
  constexpr char kBusy[] = "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";
  for (size_t i = 0; i < 4; ++i) EXPECT_THAT(replies()[i], Error(kBusy)) << i;
  EXPECT_THAT(replies()[4], StatsOf(MapOf({{Bulk("name"), Bulk("f")},
                                           {Bulk("command"), Bulks({"FCALL", "f", "1", "k", "a"})},
                                           {Bulk("duration_ms"), IntThat(Gt(99))}}),
                                    1, 1));
  EXPECT_THAT(replies()[5], Ok());
  EXPECT_THAT(Run("FUNCTION STATS"), StatsOf(Nil(), 1, 1));
  EXPECT_THAT(Run("FUNCTION KILL"), Error("NOTBUSY No scripts in execution right now."));
}

TEST_P(SlowFunctions, ThatWroteAreNotKilled) {
  Define("redis.call('SET', 'k', 1) for i = 1, 30000000 do end return 'done'");
  EXPECT_THAT(While({"FCALL", "f", "0"}, {"FUNCTION KILL"}), Bulk("done"));
  EXPECT_THAT(replies().at(0), ErrorStartsWith("UNKILLABLE "));
}

TEST_P(SlowFunctions, ScriptsAreNotFunctions) {
  EXPECT_THAT(While({"EVAL", "while true do end", "0"}, {"FUNCTION KILL", "FUNCTION STATS", "SCRIPT KILL"}),
              ErrorStartsWith("ERR Script killed by user"));
  constexpr char kBusy[] = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
  EXPECT_THAT(replies().at(0), Error(kBusy));
  EXPECT_THAT(replies().at(1), Error(kBusy));
  EXPECT_THAT(replies().at(2), Ok());
}

// Functions and scripts have their own Lua states and watches.
TEST_P(SlowFunctions, DoNotHideSlowScripts) {
  const std::vector<std::string> script{"EVAL", "while true do end", "0"};
  Run("EVAL 'return 1' 0");
  Define("if #keys == 1 then while true do end end");
  Run("FCALL f 0");
  EXPECT_THAT(While(script, {"SCRIPT KILL"}), ErrorStartsWith("ERR Script killed by user"));
  EXPECT_THAT(While({"FCALL", "f", "1", "k"}, {"FUNCTION KILL"}), Error(kFunctionKilled));
  EXPECT_THAT(While(script, {"SCRIPT KILL"}), ErrorStartsWith("ERR Script killed by user"));
}

TEST_P(SlowFunctions, LoadingHasItsOwnLimit) {
  EXPECT_THAT(Load(Code("lib", "while true do end")),
              Error("ERR Error registering functions: ERR FUNCTION LOAD timeout"));
  EXPECT_THAT(Run("PING"), Simple("PONG"));
}

// A library may also come from a payload or a snapshot, and then has the same time limit.

constexpr char kEndlessLibrary[] = "#!lua name=x\nwhile true do end";
constexpr char kLibraryTookTooLong[] = "ERR Error registering functions: ERR FUNCTION LOAD timeout";

// One library, as snapshots and payloads have it. Requires: less than 16 KB.
std::string Serialized(const std::string& code) {
  const auto low = static_cast<char>(code.size() & 0xff);
  if (code.size() < 64) return "\xf5" + std::string(1, low) + code;
  return "\xf5" + std::string(1, static_cast<char>(0x40 | code.size() >> 8)) + low + code;
}

TEST_P(SlowFunctions, RestoringHasTheLimitOfLoadingAndLeavesNothingHalfDone) {
  Load(Library("lib", "f", "return 1"));
  const std::string sound = Serialized(Library("new", "g", "return 2"));
  for (const char* policy : {"APPEND", "REPLACE", "FLUSH"}) {
    EXPECT_THAT(Restore(LibraryPayload(sound + Serialized(kEndlessLibrary)), policy), Error(kLibraryTookTooLong));
    EXPECT_THAT(LibraryNames(), ElementsAre("lib")) << policy;
    EXPECT_THAT(Run("FCALL f 0"), Int(1)) << policy;
    EXPECT_THAT(Run("FCALL g 0"), Error("ERR Function not found")) << policy;
  }
  EXPECT_EQ(Restore(LibraryPayload(sound), "APPEND").Text(), "OK");
}

TEST_P(SlowFunctions, ASnapshotWithAnEndlessLibraryIsNotLoaded) {
  SkipReplayCheck("DEBUG RELOAD is no command of a journal");
  ASSERT_THAT(Run("SET k v"), Ok());
  server().files().Put("dump.rdb", "REDIS0011" + Serialized(kEndlessLibrary) + "\xff" + std::string(8, '\0'));
  EXPECT_THAT(Run("DEBUG RELOAD NOSAVE"), ErrorStartsWith("ERR "));
  EXPECT_THAT(Run("GET k"), Bulk("v")) << "the old data is back";
  EXPECT_THAT(LibraryNames(), ElementsAre());
}

// Each library was accepted with its own limit, so a file with any number of them can be loaded.
TEST_P(SlowFunctions, TheLibrariesOfAFileHaveNoLimitTogether) {
  SkipReplayCheck("DEBUG RELOAD is no command of a journal");
  clock().AdvanceWithEachReading(40'000);
  std::string snapshot = "REDIS0011";
  for (int i = 0; i < 1000; ++i) {
    snapshot += Serialized(Library(StrCat("l", i), StrCat("f", i), "return 1"));
  }
  server().files().Put("dump.rdb", snapshot + "\xff" + std::string(8, '\0'));
  EXPECT_THAT(Run("DEBUG RELOAD NOSAVE"), Ok());
  EXPECT_EQ(LibraryNames().size(), 1000u);
}

// Unpacking a payload counts. So does making an engine, for which there is no time left either.
TEST_P(SlowFunctions, NothingIsUnpackedWhenATransactionHasNoTimeLeft) {
  ASSERT_THAT(Run("MULTI"), Ok());
  Load(Code("endless", "while true do end"));
  Restore(LibraryPayload("no library"), "APPEND");
  const TestReply replies = Run("EXEC");
  EXPECT_THAT(replies[0], Error(kLibraryTookTooLong));
  EXPECT_THAT(replies[1], Error(kLibraryTookTooLong)) << "not the error of the payload";
}

// No other client is served between the commands of a transaction.
TEST_P(SlowFunctions, TheLibrariesOfATransactionHaveOneLimitTogether) {
  ASSERT_THAT(Run("MULTI"), Ok());
  Load(Code("endless", "while true do end"));
  Load(Library("a", "f", "return 1"));
  const TestReply replies = Run("EXEC");
  EXPECT_THAT(replies[0], Error("ERR Error registering functions: ERR FUNCTION LOAD timeout"));
  EXPECT_THAT(replies[1], Error("ERR Error registering functions: ERR FUNCTION LOAD timeout"));
  EXPECT_THAT(Load(Library("a", "f", "return 1")), Bulk("a")) << "the next command has its own limit";
}

// The function that a transaction calls may have been replaced by one that writes.
TEST_P(FunctionCommands, APauseOfWritesHoldsForFunctionsReplacedAfterTheyWereQueued) {
  Define("return 1", "'no-writes'");
  TestClient other(server());
  ASSERT_THAT(Run("MULTI"), Ok());
  Run("FCALL f 0");
  const std::string writes = "redis.register_function('f', function() return redis.call('SET', 'k', 'v') end)";
  ASSERT_THAT(other.Run({"FUNCTION", "LOAD", "REPLACE", Code("lib", writes)}), Bulk("lib"));
  ASSERT_THAT(other.Run("CLIENT PAUSE 1000 WRITE"), Ok());
  EXPECT_THAT(Run("EXEC"), NoReply());
  EXPECT_THAT(other.Run("EXISTS k"), Int(0));
  ASSERT_THAT(other.Run("CLIENT UNPAUSE"), Ok());
  EXPECT_THAT(client().Read(), ArrayOf(Ok()));
}

}  // namespace
}  // namespace respite
