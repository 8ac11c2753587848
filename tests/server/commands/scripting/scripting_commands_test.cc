// EVAL and its family, SCRIPT: the effects of scripts on the server and other clients. tests/scripting/ tests the
// environment of scripts.
#include <chrono>

#include "base/str_cat.h"
#include "server/commands/scripting/script_arguments.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

constexpr char kMonitorDenied[] = "ERR MONITOR isn't allowed for DENY BLOCKING client";
constexpr char kNoScript[] = "NOSCRIPT No matching script. Please use EVAL.";
constexpr char kUnknownInScript[] = "ERR Unknown Redis command called from script";
constexpr char kWrongArityInScript[] = "ERR Wrong number of args calling Redis command from script";
constexpr char kNotInScript[] = "ERR This Redis command is not allowed from script";
constexpr char kWriteInReadOnlyScript[] = "ERR Write commands are not allowed from read-only scripts.";
constexpr char kWritingScriptReadOnly[] = "ERR Can not execute a script with write flag using *_ro command.";
constexpr char kBusyScript[] = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
constexpr char kNoScriptRuns[] = "NOTBUSY No scripts in execution right now.";
constexpr char kScriptHasWritten[] =
    "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script "
    "termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.";
constexpr char kScriptFlushMode[] = "ERR SCRIPT FLUSH only support SYNC|ASYNC option";
constexpr char kScriptDebugMode[] = "ERR Use SCRIPT DEBUG YES/SYNC/NO";
constexpr char kNoScriptDebugger[] = "ERR Scripts cannot be debugged: there is no debugger";
Refusal NotForDenyBlocking(Bytes command) {
  return {"ERR " + std::string(command) + " isn't allowed for a DENY BLOCKING client"};
}

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ScriptingCommands : public CommandTest {
 protected:
  explicit ScriptingCommands(std::vector<std::string> directives = {"enable-debug-command yes"})
      : CommandTest(std::move(directives)) {}

  TestReply Eval(Bytes script) { return Run({"EVAL", script, "0"}); }
  TestReply Eval(Bytes script, std::initializer_list<Bytes> keys, std::initializer_list<Bytes> args = {}) {
    std::vector<std::string> words{"EVAL", std::string(script), std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), args.begin(), args.end());
    return Run(words);
  }
  TestReply Other(Bytes line) { return other_.Run(line); }
  TestClient& other() { return other_; }

 private:
  TestClient other_{server(), GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Resp, ScriptingCommands, BothVersions(), VersionName);

constexpr char kShaOfReturn1[] = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";

TEST_P(ScriptingCommands, KeysAndArgumentsReachTheScript) {
  EXPECT_THAT(Eval("return {KEYS[1], KEYS[2], ARGV[1], #KEYS, #ARGV}", {"a", "b"}, {"c"}),
              ArrayOf(Bulk("a"), Bulk("b"), Bulk("c"), Int(2), Int(1)));
  EXPECT_THAT(Eval("return {#KEYS, #ARGV}"), ArrayOf(Int(0), Int(0)));
}

TEST_P(ScriptingCommands, TheCountOfKeysIsChecked) {
  EXPECT_THAT(Run({"EVAL", "return 1", "1"}), Error(refusals::kKeysAboveArgs));
  EXPECT_THAT(Run({"EVAL", "return 1", "-1"}), Error(refusals::kNegativeKeys));
  EXPECT_THAT(Run({"EVAL", "return 1", "x"}), Error(refusals::kNotInteger));
}

TEST_P(ScriptingCommands, ScriptsAreFoundByTheirSha) {
  EXPECT_THAT(Run({"EVALSHA", kShaOfReturn1, "0"}), Error(kNoScript));
  EXPECT_THAT(Run({"SCRIPT", "LOAD", "return 1"}), Bulk(kShaOfReturn1));
  EXPECT_THAT(Run({"EVALSHA", kShaOfReturn1, "0"}), Int(1));
  EXPECT_THAT(Run({"EVALSHA", ToUpper(kShaOfReturn1), "0"}), Int(1));
  EXPECT_THAT(Run({"EVALSHA_RO", kShaOfReturn1, "0"}), Int(1));
  EXPECT_THAT(Run({"SCRIPT", "EXISTS", kShaOfReturn1, "x"}), ArrayOf(Int(1), Int(0)));
  EXPECT_THAT(Run("SCRIPT FLUSH"), Ok());
  EXPECT_THAT(Run({"SCRIPT", "EXISTS", kShaOfReturn1}), ArrayOf(Int(0)));
  EXPECT_THAT(Run({"EVALSHA", kShaOfReturn1, "0"}), Error(kNoScript));
}

TEST_P(ScriptingCommands, ShowReturnsTheTextOfAScript) {
  const std::string text = "#!lua flags=no-writes\nreturn 1";
  const std::string sha = Run({"SCRIPT", "LOAD", text}).Text();
  EXPECT_THAT(Run({"SCRIPT", "SHOW", sha}), Bulk(text));
  EXPECT_THAT(Run({"SCRIPT", "SHOW", ToUpper(sha)}), Bulk(text));
  EXPECT_THAT(Run("SCRIPT SHOW abc"), Error("NOSCRIPT No matching script."));
  Run("SCRIPT FLUSH");
  EXPECT_THAT(Run({"SCRIPT", "SHOW", sha}), Error("NOSCRIPT No matching script."));
}

TEST_P(ScriptingCommands, ServerIsAnotherNameOfRedis) {
  EXPECT_THAT(Eval("return server.call('ECHO', 'x')"), Bulk("x"));
  EXPECT_THAT(Eval("return server == redis"), Int(1));
  EXPECT_THAT(Eval("server.x = 1"), ErrorStartsWith("ERR user_script:1: Attempt to modify a readonly table"));
  EXPECT_THAT(Eval("server = 1"), ErrorStartsWith("ERR user_script:1: Attempt to modify a readonly table"));
  EXPECT_THAT(Run({"FUNCTION", "LOAD",
                   "#!lua name=lib\nserver.register_function('f', function() return server.call('PING') end)"}),
              Bulk("lib"));
  EXPECT_THAT(Run("FCALL f 0"), Simple("PONG"));
}

TEST_P(ScriptingCommands, EvalKeepsTheScriptAndFlushallDoesNotForgetIt) {
  Eval("return 1");
  Run("FLUSHALL");
  EXPECT_THAT(Run({"EVALSHA", kShaOfReturn1, "0"}), Int(1));
}

TEST_P(ScriptingCommands, FlushTakesAMode) {
  for (const char* line : {"SCRIPT FLUSH SYNC", "SCRIPT FLUSH async", "SCRIPT FLUSH"}) {
    Eval("return 1");
    EXPECT_THAT(Run(line), Ok()) << line;
    EXPECT_THAT(Run({"SCRIPT", "EXISTS", kShaOfReturn1}), ArrayOf(Int(0))) << line;
  }
  EXPECT_THAT(Run("SCRIPT FLUSH NOW"), Error(kScriptFlushMode));
  EXPECT_THAT(Run("SCRIPT FLUSH SYNC NOW"), Error(kScriptFlushMode));
}

TEST_P(ScriptingCommands, TheDebuggerIsRefused) {
  EXPECT_THAT(Run("SCRIPT DEBUG NO"), Ok());
  EXPECT_THAT(Run("SCRIPT DEBUG YES"), Error(kNoScriptDebugger));
  EXPECT_THAT(Run("SCRIPT DEBUG SYNC"), Error(kNoScriptDebugger));
  EXPECT_THAT(Run("SCRIPT DEBUG MAYBE"), Error(kScriptDebugMode));
  EXPECT_THAT(Run("SCRIPT DEBUG NO LUA"), Ok());
  EXPECT_THAT(Run("SCRIPT DEBUG NO js"), Error("ERR No scripting engine found with name 'js' to enable debug"));
  EXPECT_THAT(Run("SCRIPT DEBUG NO lua x"),
              Error("ERR unknown subcommand or wrong number of arguments for 'debug'. Try SCRIPT HELP."));
}

TEST_P(ScriptingCommands, ErrorsOfCommandsEndTheScriptAndTellWhere) {
  Run("SET k text");
  const Bytes script = "local x = 1\nreturn redis.call('INCR', KEYS[1])";
  const std::string sha = Run({"SCRIPT", "LOAD", script}).Text();
  EXPECT_THAT(Eval(script, {"k"}),
              Error(std::string(refusals::kNotInteger) + " script: " + sha + ", on @user_script:2."));
}

TEST_P(ScriptingCommands, EffectsAreOneUnitOfTheJournal) {
  Eval("redis.call('SET', 'a', 1) redis.call('SELECT', 3) redis.call('SET', 'b', 2) return redis.call('GET', 'a')");
  EXPECT_THAT(Journaled(), ElementsAre("0: SET a 1", "3: SET b 2"));
  EXPECT_EQ(server().journal().Units(), 1u);
  EXPECT_THAT(Run("GET a"), Bulk("1")) << "SELECT is the script's own";
}

TEST_P(ScriptingCommands, AScriptThatFailsKeepsWhatItDid) {
  EXPECT_THAT(Eval("redis.call('SET', 'a', 1) error('no')"), ErrorStartsWith("ERR user_script:1: no script: "));
  EXPECT_THAT(Run("GET a"), Bulk("1"));
  EXPECT_THAT(Journaled(), ElementsAre("0: SET a 1"));
}

TEST_P(ScriptingCommands, TimeStandsStillWithinAScript) {
  Eval("redis.call('SET', 'a', 1, 'PX', 100)");
  EXPECT_THAT(Journaled(), ElementsAre(StrCat("0: SET a 1 PXAT ", now_ms() + 100)));
  EXPECT_THAT(Eval("return redis.call('PTTL', 'a')"), Int(100));
}

TEST_P(ScriptingCommands, AScriptMayKeepItsEffectsFromTheJournal) {
  SkipReplayCheck("that is what it asks for");
  Eval(
      "redis.set_repl(redis.REPL_NONE) redis.call('SET', 'a', 1) redis.set_repl(redis.REPL_AOF) "
      "redis.call('SET', 'b', 1)");
  Run("SET c 1");
  EXPECT_THAT(Journaled(), ElementsAre("0: SET b 1", "0: SET c 1"));
  EXPECT_EQ(server().journal().Records()[0].targets, JournalEntry::kFile);
  EXPECT_EQ(server().journal().Records()[1].targets, JournalEntry::kEverybody);
}

TEST_P(ScriptingCommands, NotEveryCommandIsAllowed) {
  for (const char* command : {"EVAL", "MULTI", "SUBSCRIBE", "SCRIPT", "CLIENT", "WATCH"}) {
    const TestReply reply = Eval(std::string("return redis.call('") + command + "', 'x', '0')");
    EXPECT_THAT(reply, ErrorStartsWith("ERR ")) << command;
  }
  EXPECT_THAT(Eval("return redis.pcall('SUBSCRIBE', 'x')"), Error(kNotInScript));
  EXPECT_THAT(Eval("return redis.pcall('NOSUCH')"), Error(kUnknownInScript));
  EXPECT_THAT(Eval("return redis.pcall('GET')"), Error(kWrongArityInScript));
}

TEST_P(ScriptingCommands, DebugMayAllowAnyCommand) {
  constexpr char kScript[] = "redis.setresp(3) return redis.call('DEBUG', 'PROTOCOL', 'attrib')";
  EXPECT_THAT(Eval(kScript), ErrorStartsWith(kNotInScript));
  Run("DEBUG SET-DISABLE-DENY-SCRIPTS 1");
  EXPECT_THAT(Eval(kScript), Bulk("Some real reply following the attribute")) << "attributes are stepped over";
  // Commands that change a connection are refused, or change only the script's own connection.
  for (const char* name : {"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"}) {
    EXPECT_THAT(Eval("return redis.pcall('" + std::string(name) + "', 'x')"), Error(NotForDenyBlocking(name).text));
  }
  EXPECT_THAT(Eval("return redis.pcall('MONITOR')"), Error(kMonitorDenied));
  EXPECT_THAT(Eval("return redis.pcall('SHUTDOWN')"), ErrorStartsWith("ERR SHUTDOWN without NOW or ABORT"));
  EXPECT_EQ(Eval("return redis.call('HELLO')").Size(), 14u);
  EXPECT_THAT(Eval("return redis.call('CLIENT', 'REPLY', 'SKIP')"), Nil());
  EXPECT_THAT(Run("PING"), Simple("PONG"));
  Run("DEBUG SET-DISABLE-DENY-SCRIPTS 0");
  EXPECT_THAT(Eval(kScript), ErrorStartsWith(kNotInScript));
}

TEST_P(ScriptingCommands, NothingWaits) {
  EXPECT_THAT(Eval("return redis.call('BLPOP', 'l', 0)"), Nil());
  EXPECT_THAT(Eval("return redis.pcall('xread', 'BLOCK', 0, 'STREAMS', 's', '0')"),
              Error("ERR xread command is not allowed with BLOCK option from scripts"));
}

TEST_P(ScriptingCommands, ReadOnlyScriptsDoNotWrite) {
  constexpr char kWrites[] = "return redis.pcall('SET', 'a', 1)";
  EXPECT_THAT(Run({"EVAL_RO", kWrites, "0"}), Error(kWriteInReadOnlyScript));
  EXPECT_THAT(Eval(std::string("#!lua flags=no-writes\n") + kWrites), Error(kWriteInReadOnlyScript));
  EXPECT_THAT(Run({"EVAL_RO", "#!lua\nreturn 1", "0"}), Error(kWritingScriptReadOnly));
  EXPECT_THAT(Run({"EVAL_RO", "#!lua flags=no-writes\nreturn redis.call('EXISTS', 'a')", "0"}), Int(0));
  EXPECT_THAT(Journaled(), IsEmpty());
}

TEST_P(ScriptingCommands, FirstLinesAreChecked) {
  EXPECT_THAT(Eval("#!lua flags=no-writes"), Error("ERR Invalid script shebang"));
  EXPECT_THAT(Eval("#!py\nreturn 1"), Error("ERR Unexpected engine in script shebang: #!py"));
  EXPECT_THAT(Eval("#!lua name=x\nreturn 1"), Error("ERR Unknown lua shebang option: name=x"));
  EXPECT_THAT(Eval("#!lua flags=no-writes,nope\nreturn 1"), Error("ERR Unexpected flag in script shebang: nope"));
  EXPECT_THAT(Eval("#!lua flags=\nreturn 1"), Int(1));
  EXPECT_THAT(Eval("#!lua\nerror('x')"), ErrorStartsWith("ERR user_script:2: x script: "));
}

TEST_P(ScriptingCommands, WatchersSeeWhatAScriptChanges) {
  Run("WATCH k");
  other().Run({"EVAL", "redis.call('SET', 'k', 1)", "0"});
  Run("MULTI");
  Run("GET k");
  EXPECT_THAT(Run("EXEC"), NilArray());
}

TEST_P(ScriptingCommands, ScriptsRunInTransactions) {
  Run("MULTI");
  Run({"EVAL", "return redis.call('INCR', 'k')", "0"});
  Run("INCR k");
  EXPECT_THAT(Run("EXEC"), ArrayOf(Int(1), Int(2)));
  EXPECT_EQ(server().journal().Units(), 1u);
}

TEST_P(ScriptingCommands, MonitorsSeeTheScriptBeforeItsCommands) {
  TestClient monitor(server());
  monitor.Run("MONITOR");
  Eval("redis.call('SET', 'k', 1)");
  const std::string seen = monitor.Raw("");
  EXPECT_THAT(seen, HasSubstr("\"EVAL\" \"redis.call('SET', 'k', 1)\" \"0\""));
  EXPECT_THAT(seen, HasSubstr(" [0 lua] \"SET\" \"k\" \"1\""));
  EXPECT_LT(seen.find("EVAL"), seen.find("lua]"));
}

TEST_P(ScriptingCommands, ErrorsCountOnce) {
  Run("SET k text");
  Run("CONFIG RESETSTAT");
  Eval("return redis.call('LPUSH', 'k', 1)");
  Eval("return redis.pcall('NOSUCH')");
  Eval("return {err='MY error'}");
  Eval("return {1, {err='MY error'}}");
  const std::string info = Run("INFO errorstats").Text();
  EXPECT_THAT(info, HasSubstr("errorstat_WRONGTYPE:count=1\r\n"));
  EXPECT_THAT(info, HasSubstr("errorstat_ERR:count=1\r\n"));
  EXPECT_THAT(info, HasSubstr("errorstat_MY:count=2\r\n"));
  const std::string commands = Run("INFO commandstats").Text();
  EXPECT_THAT(commands, testing::ContainsRegex("cmdstat_eval:calls=4,.*rejected_calls=0,failed_calls=4"));
  EXPECT_THAT(commands, testing::ContainsRegex("cmdstat_lpush:calls=1,.*rejected_calls=0,failed_calls=1"));
}

TEST_P(ScriptingCommands, ReadsAreTheClientsOwn) {
  if (!IsResp3()) GTEST_SKIP() << "RESP2 gets invalidations over another connection";
  Run("CLIENT TRACKING ON");
  Run({"EVAL_RO", "return redis.call('GET', 'read')", "1", "named"});
  Other("SET named 1");
  EXPECT_EQ(client().Raw(""), "") << "naming a key is not reading it";
  Other("SET read 1");
  EXPECT_EQ(client().Raw(""), ">2\r\n$10\r\ninvalidate\r\n*1\r\n$4\r\nread\r\n");
}

TEST_P(ScriptingCommands, ScriptsThatUseTooMuchMemoryEnd) {
  EXPECT_THAT(Eval("return #string.rep('x', 2^31 - 1)"), ErrorStartsWith("ERR "));
  EXPECT_THAT(Eval("local function f() return f() + 1 end return f()"), ErrorStartsWith("ERR "));
  EXPECT_THAT(Eval("return redis.call('INCR', 'k')"), Int(1));
  EXPECT_LT(server()->services().execution.script_cache.EngineBytes(), size_t{64} << 20);
}

TEST_P(ScriptingCommands, ErrorsThatSayNothingAreErrors) {
  for (const char* error : {"{}", "{err={}}", "{1}", "setmetatable({}, {__tostring = error})", "redis", "_G"}) {
    EXPECT_THAT(Eval("error(" + std::string(error) + ")"), ErrorStartsWith("ERR unknown error script: ")) << error;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Scripts that take long. Each look at the clock finds it 1 ms later.

class SlowScripts : public ScriptingCommands {
 protected:
  SlowScripts() : ScriptingCommands({"busy-reply-threshold 100"}) { clock().AdvanceWithEachReading(1000); }

  // Runs a script, and runs `others` on another client as soon as other clients are served.
  TestReply EvalWhile(Bytes script, const std::vector<std::string>& others) {
    server().DuringLongTasks([this, others, done = false]() mutable {
      if (std::exchange(done, true)) return;
      for (const std::string& line : others) replies_.push_back(Other(line));
    });
    return Eval(script);
  }
  const std::vector<TestReply>& replies() const { return replies_; }

 private:
  std::vector<TestReply> replies_;
};
INSTANTIATE_TEST_SUITE_P(Resp, SlowScripts, BothVersions(), VersionName);

constexpr char kForever[] = "while true do end";
constexpr char kKilled[] = "ERR Script killed by user with SCRIPT KILL... script: ";

TEST_P(SlowScripts, AreKilledWhileOthersMayDoLittleElse) {
  EXPECT_THAT(EvalWhile(kForever, {"PING", "GET k", "FUNCTION KILL", "SCRIPT KILL"}), ErrorStartsWith(kKilled));
  EXPECT_THAT(replies(), ElementsAre(Error(kBusyScript), Error(kBusyScript), testing::_, Ok()));
  EXPECT_THAT(Other("PING"), Simple("PONG"));
  EXPECT_THAT(Other("SCRIPT KILL"), Error(kNoScriptRuns));
}

TEST_P(SlowScripts, CannotCatchTheirDeath) {
  EXPECT_THAT(EvalWhile("while true do pcall(function() while true do end end) end", {"SCRIPT KILL"}),
              ErrorStartsWith(kKilled));
  EXPECT_THAT(EvalWhile("local run = coroutine.wrap(function() while true do end end) while true do pcall(run) end",
                        {"SCRIPT KILL"}),
              ErrorStartsWith(kKilled));
  EXPECT_THAT(EvalWhile("xpcall(error, function() while true do end end)", {"SCRIPT KILL"}), ErrorStartsWith(kKilled));
}

// Code that catches the error of a killed inner script must pass it on, or outer scripts would continue forever.
TEST_P(SlowScripts, InCoroutinesOfCoroutinesAreKilled) {
  EXPECT_THAT(EvalWhile("local function f(n) while true do local co = coroutine.create(f) "
                        "if n < 3 then coroutine.resume(co, n + 1) end end end f(0)",
                        {"SCRIPT KILL"}),
              ErrorStartsWith(kKilled));
  EXPECT_THAT(EvalWhile("while true do xpcall(coroutine.wrap(function() while true do end end), "
                        "function() while true do end end) end",
                        {"SCRIPT KILL"}),
              ErrorStartsWith(kKilled));
  EXPECT_THAT(EvalWhile("local function f() local x <close> = setmetatable({}, {__close = function() while true do end "
                        "end}) f() end while true do pcall(f) end",
                        {"SCRIPT KILL"}),
              ErrorStartsWith(kKilled));
  // A coroutine that begins after the end of the script must not run.
  EXPECT_THAT(EvalWhile("local p = newproxy(true) getmetatable(p).__close = coroutine.wrap(function() while true do "
                        "redis.call('INCR', 'k') end end) local x <close> = p while true do end",
                        {"SCRIPT KILL"}),
              ErrorStartsWith(kKilled));
  EXPECT_THAT(Run("EXISTS k"), Int(0));
}

// None of these coroutines runs long enough for a hook, and the main program needs seconds to reach one. Other clients
// must not wait for that, and their wait must not grow with each tick.
TEST_P(SlowScripts, OfShortCoroutinesServeOthersInTime) {
  ASSERT_THAT(Run("CONFIG SET busy-reply-threshold 1"), Ok());
  int served = 0;
  server().DuringLongTasks([&] {
    if (++served == 20) Other("SCRIPT KILL");
  });
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THAT(Eval("local function f() for i = 1, 1500 do string.rep('x', 10000) end end "
                   "while true do coroutine.resume(coroutine.create(f)) end"),
              ErrorStartsWith(kKilled));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(3));
}

TEST_P(SlowScripts, AreKilledWithinFunctionsOfLibraries) {
  EXPECT_THAT(EvalWhile("table.insert({}, -2147483648, 1)", {"SCRIPT KILL"}), ErrorStartsWith(kKilled));
  EXPECT_THAT(EvalWhile("while true do load(math.random) end", {"SCRIPT KILL"}), ErrorStartsWith(kKilled));
}

// Redis: the script is atomic, so keys do not expire that had not expired when it began.
TEST_P(SlowScripts, SeeTimePassOnceOthersAreServed) {
  const std::string now = "local function now() local t = redis.call('TIME') return t[1] * 1000 + t[2] / 1000 end ";
  EXPECT_THAT(Eval(now + "redis.call('SET', 'k', 'v', 'PX', 200) local start = now() while now() < start + 300 do end "
                         "return redis.call('GET', 'k')"),
              Bulk("v"));
  EXPECT_THAT(Run("GET k"), Nil());
}

TEST_P(SlowScripts, ThatHaveWrittenAreNotKilled) {
  EXPECT_THAT(EvalWhile("redis.call('SET', 'k', 1) for i = 1, 30000000 do end return 5", {"SCRIPT KILL"}), Int(5));
  EXPECT_THAT(replies(), ElementsAre(Error(kScriptHasWritten)));
}

TEST_P(SlowScripts, ContinueWithTheNextRequest) {
  server().DuringLongTasks([this] { Other("SCRIPT KILL"); });
  const std::string replies = client().Raw("EVAL \"while true do end\" 0\r\nPING\r\n");
  EXPECT_THAT(replies, HasSubstr("killed by user"));
  EXPECT_THAT(replies, HasSubstr("+PONG\r\n"));
}

TEST_P(SlowScripts, RefuseWholeTransactionsOfOthers) {
  EvalWhile(kForever, {"MULTI", "SET k 1", "EXEC", "SCRIPT KILL"});
  EXPECT_THAT(replies()[0], Ok());
  EXPECT_THAT(replies()[1], Error(kBusyScript));
  EXPECT_THAT(replies()[2], ErrorStartsWith("EXECABORT Transaction discarded because of: BUSY "));
}

TEST_P(SlowScripts, DoNotServeWaitersForElementsTheyRemoveAgain) {
  TestClient waiter(server());
  EXPECT_THAT(waiter.Run("BLPOP l 0"), NoReply());
  EXPECT_THAT(EvalWhile("redis.call('LPUSH', 'l', 'x') for i = 1, 30000000 do end return redis.call('LPOP', 'l')",
                        {"MULTI", "DISCARD"}),
              Bulk("x"));
  EXPECT_THAT(replies(), ElementsAre(Ok(), Ok()));
  EXPECT_THAT(waiter.Read(), NoReply());
  Run("LPUSH l y");
  EXPECT_THAT(waiter.Read(), ArrayOf(Bulk("l"), Bulk("y")));
}

TEST_P(SlowScripts, EndWithTheServerAndLeaveNoHalfOfTheirEffects) {
  SkipReplayCheck("the server stops in the middle of a Unit");
  EXPECT_THAT(EvalWhile("redis.call('SET', 'k', 1) while true do end", {"SHUTDOWN", "SHUTDOWN NOSAVE"}),
              ErrorStartsWith(kKilled));
  EXPECT_THAT(replies()[0], Error(kBusyScript));
  EXPECT_EQ(server().StoppedWith(), 0);
  EXPECT_THAT(Journaled(), IsEmpty());
}

TEST_P(SlowScripts, MayTakeForeverWhereNothingBoundsThem) {
  Run("CONFIG SET busy-reply-threshold 0");
  EXPECT_THAT(EvalWhile("for i = 1, 30000000 do end return 5", {"SCRIPT KILL"}), Int(5));
  EXPECT_THAT(replies(), IsEmpty());
}

// ---------------------------------------------------------------------------------------------------------------------
// Replies without end: a table may stand at many places of a reply, so a small one is 2^34 elements.

constexpr char kEndlessReplies[][160] = {
    "local t = {1} for i = 1, 34 do t = {t, t} end return t", "local t = {} t[1] = t t[2] = t return t",
    "redis.setresp(3) local t = {1} for i = 1, 34 do t = {map = {a = t, b = t}} end return t",
    "local t = {1} for i = 1, 34 do t = {set = {[t] = true, [{t, t}] = true}} end return t",
    "local t = {err = 'E x'} for i = 1, 34 do t = {t, t} end return t"};

TEST_P(SlowScripts, AreKilledWhileTheirReplyIsWritten) {
  for (const char* script : kEndlessReplies) {
    EXPECT_THAT(EvalWhile(script, {"PING", "SCRIPT KILL"}), ErrorStartsWith("ERR Script killed by user")) << script;
    EXPECT_THAT(replies()[replies().size() - 2], Error(kBusyScript)) << script;
    EXPECT_EQ(client().Raw("PING\r\n"), "+PONG\r\n") << "nothing of the reply is left";
  }
}

TEST_P(SlowScripts, AreKilledWhileTheReplyOfAFunctionIsWritten) {
  Run({"FUNCTION", "LOAD",
       std::string("#!lua name=l\nredis.register_function('f', function() ") + kEndlessReplies[0] + " end)"});
  server().DuringLongTasks([this] { Other("FUNCTION KILL"); });
  EXPECT_THAT(Run("FCALL f 0"), ErrorStartsWith("ERR Script killed by user"));
}

// What it has written stays, and it cannot be killed, so limits on its memory and on the client's output must end it.
TEST_P(SlowScripts, ThatHaveWrittenAreNotKilledWhileTheirReplyIsWritten) {
  ASSERT_THAT(Run("CONFIG SET client-output-buffer-limit 'normal 8mb 0 0'"), Ok());
  server().DuringLongTasks([this] { EXPECT_THAT(Other("SCRIPT KILL"), Error(kScriptHasWritten)); });
  EXPECT_THAT(Eval(std::string("redis.call('SET', 'k', 'v') ") + kEndlessReplies[0]), NoReply());
  EXPECT_TRUE(client().Closed());
  server().DuringLongTasks({});
  EXPECT_THAT(Other("GET k"), Bulk("v"));
}

TEST_P(ScriptingCommands, AReplyEndsWithTheLimitOfTheOutput) {
  ASSERT_THAT(Run("CONFIG SET client-output-buffer-limit 'normal 8mb 0 0'"), Ok());
  EXPECT_THAT(Eval("local v = string.rep('x', 1000000) local t = {} for i = 1, 5 do t[i] = v end return #t"), Int(5));
  client().Begin(
      "EVAL \"redis.call('SET', 'k', 'v') local v = string.rep('x', 1000000) local t = {} "
      "for i = 1, 1000000 do t[i] = v end return t\" 0");
  EXPECT_TRUE(client().Closed());
  EXPECT_THAT(Other("GET k"), Bulk("v")) << "the script has run";
}

TEST_P(ScriptingCommands, AReplyOfATransactionEndsWithTheLimitOfTheOutput) {
  ASSERT_THAT(Run("CONFIG SET client-output-buffer-limit 'normal 8mb 0 0'"), Ok());
  Run("MULTI");
  for (int i = 0; i < 100; ++i) {
    Eval("local v = string.rep('x', 1000000) local t = {} for i = 1, 1000 do t[i] = v end return t");
  }
  client().Begin("EXEC");
  EXPECT_TRUE(client().Closed());
}

// Without a limit for the output, the reply is memory of the script.
TEST_P(ScriptingCommands, AReplyEndsWithTheMemoryOfAScript) {
  if (IsResp3()) return;  // the test takes a second
  EXPECT_THAT(Eval("redis.call('SET', 'k', 'v') local v = string.rep('x', 1e8) local t = {} "
                   "for i = 1, 60 do t[i] = v end return t"),
              ErrorStartsWith("ERR Error running script "));
  EXPECT_THAT(Run("GET k"), Bulk("v"));
  EXPECT_LT(client().session().out.HeldBytes(), size_t{1} << 20);
}

TEST_P(ScriptingCommands, AnErrorHasALimit) {
  if (IsResp3()) return;
  EXPECT_THAT(Eval("return {err = 'E ' .. string.rep('x', 4e7)}"), Error("ERR The error of the script is too long"));
  EXPECT_THAT(Eval("error(string.rep('x', 4e7))"), ErrorStartsWith("ERR The error of the script is too long"));
  std::string unfinished = "return '";
  unfinished.resize(40'000'000, 'x');
  EXPECT_THAT(Eval(unfinished + "\n'"), Error("ERR Error compiling script (new function): the error is too long"));
}

// The arguments of one call may be the same long text, thousands of times.
TEST_P(ScriptingCommands, WhatAScriptBuildsOfManyArgumentsIsItsMemory) {
  if (IsResp3()) return;
  const std::string many = "local t = {} for i = 1, 5000 do t[i] = v end ";
  EXPECT_THAT(Eval("local v = string.rep('x', 1e7) " + many + "redis.log(redis.LOG_DEBUG, unpack(t))"), Nil())
      << "only the beginning is copied";
  ASSERT_THAT(Run({"SET", "long", std::string(8'000'000, 'x')}), Ok());
  EXPECT_THAT(Eval("local v = 'long' " + many + "return redis.pcall('MGET', unpack(t))"),
              Error("ERR The reply of the command is too long for a script"));
}

// ---------------------------------------------------------------------------------------------------------------------
// Long texts.

TEST_P(SlowScripts, AreKilledWhileTheyAreCompiled) {
  ASSERT_THAT(Run("CONFIG SET busy-reply-threshold 10"), Ok());
  std::string script;
  for (int i = 0; i < 400'000; ++i) script += "x = {1, 2, 3, 'text'}\n";
  EXPECT_THAT(EvalWhile(script, {"PING", "SCRIPT KILL"}),
              Error("ERR Error compiling script (new function): Script killed by user with SCRIPT KILL..."));
  EXPECT_THAT(replies(), ElementsAre(Error(kBusyScript), Ok()));
  server().DuringLongTasks([this] { Other("SCRIPT KILL"); });
  EXPECT_THAT(Run({"SCRIPT", "LOAD", script}), ErrorStartsWith("ERR Error compiling script"));
  EXPECT_THAT(Run("PING"), Simple("PONG"));
  EXPECT_THAT(Other("SCRIPT KILL"), Error(kNoScriptRuns));
}

TEST_P(SlowScripts, AreKilledWhileTheirArgumentsArePrepared) {
  ASSERT_THAT(Run("CONFIG SET busy-reply-threshold 1"), Ok());
  std::vector<std::string> request = {"EVAL", "return 1", "0"};
  for (int i = 0; i < 1'000'000; ++i) request.push_back(std::to_string(i));
  server().DuringLongTasks([this] { Other("SCRIPT KILL"); });
  const TestReply reply = Run(request);
  EXPECT_THAT(reply, ErrorStartsWith("ERR Script killed by user with SCRIPT KILL..."));
}

TEST_P(SlowScripts, AreKilledWhileTheyCompile) {
  EXPECT_THAT(EvalWhile("local s = string.rep('\\\\. ', 20000000) while true do loadstring(s) end", {"SCRIPT KILL"}),
              ErrorStartsWith(kKilled));
}

// ---------------------------------------------------------------------------------------------------------------------
// Zeros. Redis: errors and statuses are C strings.

TEST_P(ScriptingCommands, ErrorsAndStatusesEndAtAZero) {
  EXPECT_THAT(Eval("return redis.error_reply('MY\\0ERR z')"), Error("ERR MY"));
  EXPECT_THAT(Eval("return redis.error_reply('A B\\0C')"), Error("A B"));
  EXPECT_THAT(Eval("return #redis.error_reply('MY\\0ERR z').err"), Int(6));
  EXPECT_THAT(Eval("return {err = 'MY\\0ERR z'}"), Error("MY"));
  EXPECT_THAT(Eval("return {ok = 'a\\0b'}"), Simple("a"));
  EXPECT_THAT(Eval("return redis.status_reply('x\\0y')"), Simple("x"));
  EXPECT_THAT(Eval("return {{ok = 'a\\0b'}, {err = 'E c\\0d'}}"), ArrayOf(Simple("a"), Error("E c")));
}

// ---------------------------------------------------------------------------------------------------------------------
// DEBUG SET-DISABLE-DENY-SCRIPTS: code that runs stays until it ends.

TEST_P(ScriptingCommands, DebugAllowsNothingThatReplacesTheCodeThatRuns) {
  SkipReplayCheck("DEBUG RELOAD is no command of a journal");
  Run({"FUNCTION", "LOAD",
       "#!lua name=l\nredis.register_function('f', function(keys, args) local r = redis.pcall(unpack(args)) "
       "local t = {} for i = 1, 1000 do t[i] = i .. i end collectgarbage() return r end)"});
  Run("DEBUG SET-DISABLE-DENY-SCRIPTS 1");
  const std::string payload = Run("FUNCTION DUMP").Text();
  const std::vector<std::vector<std::string>> refused = {{"EVAL", "return 1", "0"},
                                                         {"EVAL_RO", "return 1", "0"},
                                                         {"EVALSHA", kShaOfReturn1, "0"},
                                                         {"EVALSHA_RO", kShaOfReturn1, "0"},
                                                         {"FCALL", "f", "0", "PING"},
                                                         {"FCALL_RO", "f", "0", "PING"},
                                                         {"SCRIPT", "FLUSH"},
                                                         {"SCRIPT", "FLUSH", "ASYNC"},
                                                         {"SCRIPT", "LOAD", "return 2"},
                                                         {"FUNCTION", "FLUSH"},
                                                         {"FUNCTION", "DELETE", "l"},
                                                         {"FUNCTION", "LOAD", "REPLACE", "#!lua name=l\n"},
                                                         {"FUNCTION", "RESTORE", payload, "REPLACE"},
                                                         {"FUNCTION", "RESTORE", payload, "FLUSH"},
                                                         {"DEBUG", "RELOAD"},
                                                         {"DEBUG", "RELOAD", "NOSAVE"},
                                                         {"DEBUG", "LOADAOF"},
                                                         {"TEST", "SNAPSHOT", "RESTORE", "a"},
                                                         {"TEST", "RESET"}};
  for (const std::vector<std::string>& words : refused) {
    std::vector<std::string> call = {"FCALL", "f", "0"};
    call.insert(call.end(), words.begin(), words.end());
    EXPECT_THAT(Run(call), Error(kNotInScript)) << words[0] << " " << words[1];
    call[0] = "EVAL";
    call[1] = "local r = redis.pcall(unpack(ARGV)) local t = {} for i = 1, 1000 do t[i] = i .. i end return r";
    EXPECT_THAT(Run(call), Error(kNotInScript)) << words[0] << " " << words[1];
  }
}

// Whatever a command does to a script's connection, the next script has a new connection.
TEST_P(ScriptingCommands, WhatDebugLetsAScriptDoToItsConnectionEndsWithIt) {
  Run("DEBUG SET-DISABLE-DENY-SCRIPTS 1");
  Eval("return redis.call('CLIENT', 'REPLY', 'OFF')");
  EXPECT_THAT(Eval("return redis.call('ECHO', 'x')"), Bulk("x"));
  Eval("redis.call('WATCH', 'k') redis.call('CLIENT', 'TRACKING', 'ON') redis.call('MULTI')");
  EXPECT_THAT(Eval("return redis.call('SET', 'k', 1)"), Ok());
  for (const char* words : {"'QUIT'", "'RESET'", "'EXEC'", "'AUTH', 'x'", "'CLIENT', 'NO-EVICT', 'on'"}) {
    Eval(std::string("return redis.pcall(") + words + ")");
    EXPECT_THAT(Eval("return redis.call('ECHO', 'x')"), Bulk("x")) << words;
  }
}

}  // namespace
}  // namespace respite
