// Scripts at their limits: inside each other, and calling what scripts may not call.
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/command_test.h"

namespace respite {
namespace {

// Each late script lets clients of the next server be served, and their script runs inside it.
TEST(NestedScripts, GetBusyWhenTheStackIsNearlyUsedUp) {
  std::function<int(int)> nest = [&](int depth) {  // returns how many scripts ran inside each other
    constexpr size_t kUsedStack = size_t{400} << 10;
    volatile char used[kUsedStack];
    used[depth] = 1;
    EXPECT_EQ(used[depth], 1);
    TestServer server;
    TestClient client(server), killer(server);
    int inner = 0;
    server.DuringLongTasks([&, done = false]() mutable {
      if (std::exchange(done, true)) return;
      if (depth < 100) inner = nest(depth + 1);
      killer.Send("SCRIPT KILL");
    });
    server.clock().AdvanceWithEachReading(1000);
    const TestReply reply = client.Run({"EVAL", "while true do end", "0"});
    server.clock().AdvanceWithEachReading(0);
    if (depth > 0 && reply.Text().starts_with("BUSY")) return 0;
    EXPECT_THAT(reply, ErrorStartsWith("ERR Script killed by user"));
    return inner + 1;
  };
  const int nested = nest(0);
  EXPECT_GE(nested, 3);
  EXPECT_LT(nested, 100);
}

// The reply of EXEC is half written while others are served. What is removed from the tracking table meanwhile must
// reach the client, although the reply of the script is rolled back.
TEST(LateScripts, InvalidationsForTheirClientComeAfterTheReply) {
  TestServer server({.directives = {"tracking-table-max-keys 1"}});
  TestClient client(server, RespVersion::kResp3), other(server), killer(server);
  client.Run("CLIENT TRACKING ON");
  client.Run("MULTI");
  client.Run("PING");
  client.Run({"EVAL", "for i = 1, 3 do redis.call('GET', 'k' .. i) end while true do end", "0"});
  server.DuringLongTasks([&, calls = 0]() mutable {
    if (++calls < 10) other.Send("PING");
    if (calls == 10) killer.Send("SCRIPT KILL");
  });
  server.clock().AdvanceWithEachReading(1000);
  const TestReply replies = client.Run("EXEC");
  server.clock().AdvanceWithEachReading(0);
  ASSERT_EQ(replies.Size(), 2u);
  EXPECT_THAT(replies[0], Simple("PONG"));
  EXPECT_THAT(replies[1], ErrorStartsWith("ERR Script killed by user"));
  int invalidations = 0;
  while (client.Read().tree) ++invalidations;
  EXPECT_GE(invalidations, 2) << "of three keys, at most one is still in the table";
}

// Writes and messages of a script are kept for replicas and the append-only file until the script ends.
TEST(ScriptRunner, LimitsWhatAScriptPropagates) {
  TestServer server({.directives = {"script-memory-limit 16mb", "maxmemory 100mb"}});
  TestClient client(server);
  const std::string begin = "local mb = string.rep('x', 1e6) for i = 1, 100 do redis.call(";
  for (const char* call : {"'PUBLISH', 'channel', mb", "'SET', 'key', mb"}) {
    EXPECT_THAT(client.Run({"EVAL", begin + call + ") end", "0"}),
                ErrorStartsWith("OOM The script's writes and messages"))
        << call;
  }
  const std::string kept =
      "for i = 1, 100 do redis.pcall('SET', KEYS[1], ARGV[1]) end return redis.call('STRLEN', KEYS[1])";
  EXPECT_THAT(client.Run({"EVAL", kept, "1", "key", std::string(1'000'000, 'x')}), Int(1'000'000));
  EXPECT_THAT(client.Run({"EVAL", begin + "'GET', 'key') end return 'done'", "0"}), Bulk("done"));
}

// The place of each command in the list of kept commands counts too: 16 bytes beside 27 of text.
TEST(ScriptRunner, LimitsHowManyCommandsAScriptPropagates) {
  TestServer server({.directives = {"script-memory-limit 16mb"}});
  TestClient client(server);
  const std::string script = "local i = 0 while redis.pcall('SET', 'a', 'b').ok do i = i + 1 end return i";
  EXPECT_THAT(client.Run({"EVAL", script, "0"}), Int((64 << 20) / (27 + 16) + 1));
}

// The limit is for all scripts together.
TEST(ScriptRunner, LimitsTheMemoryOfScriptsAsConfigured) {
  TestServer server({.directives = {"script-memory-limit 16mb"}});
  TestClient client(server);
  const char* const script = "return #string.rep('x', 2e7)";
  EXPECT_THAT(client.Run({"EVAL", script, "0"}).Text(), testing::EndsWith("not enough memory"));
  client.Run("CONFIG SET script-memory-limit 64mb");
  EXPECT_THAT(client.Run({"EVAL", script, "0"}), Int(20'000'000));
}

// At 2^18 strings, Lua's table of strings must grow by more than is left. Lua tries that again at each new string, with
// a full collection each time.
TEST(ScriptRunner, StringsNearTheMemoryLimitCauseNoCollectionEach) {
  TestServer server({.directives = {"script-memory-limit 16mb"}});
  TestClient client(server);
  const std::clock_t start = std::clock();
  EXPECT_THAT(client
                  .Run({"EVAL",
                        "local a, b, half = {}, {}, 131072 "
                        "for i = 1, half do a[i] = 's' .. i end for i = 1, 2 * half do b[i] = 't' .. i end",
                        "0"})
                  .Text(),
              testing::EndsWith("not enough memory"));
  EXPECT_LT(std::clock() - start, 3 * CLOCKS_PER_SEC) << "it took half a minute";
}

// Every command that scripts otherwise may not call, with the fewest arguments that it takes, and with one more.
TEST(ScriptsThatMayCallAnything, HarmNothing) {
  std::vector<std::vector<std::string>> calls;
  {
    TestServer server;
    server->services().env.commands.ForEach([&](const Command& command) {
      const bool ends = command.full_name == "shutdown" || command.full_name == "debug" ||
                        command.full_name == "client|pause";  // these block, as intended
      if (!command.Is(CommandFlag::kNoScript) || command.IsContainer() || ends) return;
      std::vector<std::string> words;
      if (command.parent != nullptr) words.push_back(command.parent->full_name);
      words.push_back(std::string(command.name));
      while (words.size() < static_cast<size_t>(std::abs(command.arity))) words.push_back("1");
      calls.push_back(words);
      words.push_back("2");
      calls.push_back(words);
    });
  }
  ASSERT_GT(calls.size(), 100u);
  for (const std::vector<std::string>& words : calls) {
    TestServer server({.directives = {"enable-debug-command yes"}});
    TestClient client(server);
    client.Run("DEBUG SET-DISABLE-DENY-SCRIPTS 1");
    std::vector<std::string> eval = {"EVAL", "redis.pcall(unpack(ARGV)) collectgarbage() return redis.call('DBSIZE')",
                                     "0"};
    eval.insert(eval.end(), words.begin(), words.end());
    client.Run(eval);
    server.Cron();
    TestClient other(server);
    other.Run({"EVAL", "return redis.call('SET', 'k', 'v')", "0"});
    server.Cron();
    EXPECT_TRUE(other.Run("PING").HasValue()) << testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace respite
