// Which gate applies to which request path: the table is complete, and the paths obey it.
#include "server/execution/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "protocol/request_text.h"
#include "server/catalogue/command_table.h"
#include "tests/support/replication_world.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/server_life.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

constexpr char kStreamsMayNot[] =
    "ERR This command is not allowed in a replication stream, an append-only file or a fixture";
constexpr char kScriptsMayNot[] = "ERR This Redis command is not allowed from script";

// --- The table.

TEST(GateRules, EachGateOnEachPathIsDecidedAndSaysWhyItIsSkipped) {
  for (size_t gate = 0; gate < kGateCount; ++gate) {
    for (size_t path = 0; path < kRequestPathCount; ++path) {
      const GateRule& rule = RuleOf(static_cast<Gate>(gate), static_cast<RequestPath>(path));
      EXPECT_NE(rule.answer, GateRule::Answer::kUndecided) << gate << " " << path;
      EXPECT_EQ(rule.why.empty(), rule.answer != GateRule::Answer::kSkipped) << gate << " " << path;
      EXPECT_EQ(Applies(static_cast<Gate>(gate), static_cast<RequestPath>(path)),
                rule.answer != GateRule::Answer::kSkipped);
    }
  }
}

// All gates apply to a client, except those that are only about other paths.
TEST(GateRules, ClientsSkipNothingOfTheirs) {
  for (size_t gate = 0; gate < kGateCount; ++gate) {
    const bool is_of_others = static_cast<Gate>(gate) == Gate::kContent || static_cast<Gate>(gate) == Gate::kScripts;
    const GateRule::Answer wanted = is_of_others ? GateRule::Answer::kSkipped : GateRule::Answer::kHere;
    EXPECT_EQ(RuleOf(static_cast<Gate>(gate), RequestPath::kClient).answer, wanted) << gate;
    EXPECT_EQ(RuleOf(static_cast<Gate>(gate), RequestPath::kImport).answer, wanted) << gate;
  }
}

// --- What streams and files may contain.

class StreamContent : public testing::Test {
 protected:
  std::set<std::string> NamesWhere(bool belongs) {
    std::set<std::string> names;
    server_->services().env.commands.ForEach([&](const Command& command) {
      if (!command.IsContainer() && IsAllowedInStreams(command) == belongs) names.insert(command.full_name);
    });
    return names;
  }

  TestServer server_;
};

TEST_F(StreamContent, WhatActsOnTheServerDoesNotBelong) {
  EXPECT_THAT(
      NamesWhere(false),
      IsSupersetOf(
          {"debug",         "shutdown",      "replicaof",    "slaveof",        "failover",       "monitor",
           "subscribe",     "psubscribe",    "ssubscribe",   "psync",          "sync",           "save",
           "bgsave",        "bgrewriteaof",  "migrate",      "auth",           "hello",          "reset",
           "quit",          "watch",         "waitaof",      "config|set",     "config|rewrite", "acl|setuser",
           "acl|load",      "client|kill",   "client|pause", "client|reply",   "module|load",    "script|kill",
           "function|kill", "cluster|reset", "cluster|meet", "cluster|forget", "slowlog|reset",  "latency|reset"}));
}

TEST_F(StreamContent, WhatPrimariesSendBelongs) {
  EXPECT_THAT(NamesWhere(true), IsSupersetOf({"ping",
                                              "select",
                                              "multi",
                                              "exec",
                                              "replconf",
                                              "publish",
                                              "spublish",
                                              "eval",
                                              "evalsha",
                                              "fcall",
                                              "script|load",
                                              "script|flush",
                                              "function|load",
                                              "function|delete",
                                              "function|flush",
                                              "function|restore",
                                              "set",
                                              "del",
                                              "unlink",
                                              "flushall",
                                              "flushdb",
                                              "swapdb",
                                              "restore",
                                              "pexpireat",
                                              "xgroup|create",
                                              "cluster|setslot"}));
  const std::vector<Bytes> hidden = {"CLUSTER", "SYNCSLOTS"};
  EXPECT_TRUE(IsAllowedInStreams(*server_->services().env.commands.FindForReplay(hidden)));
}

// Nodes that send slots send changes of keys, and what their protocol needs. PFCOUNT may change the value of its key.
TEST_F(StreamContent, SourcesOfSlotsSendLess) {
  std::set<std::string> sent;
  std::set<std::string> sent_without_write;
  server_->services().env.commands.ForEach([&](const Command& command) {
    if (!IsSentBySlotSource(command)) return;
    EXPECT_TRUE(IsAllowedInStreams(command)) << command.full_name;
    sent.insert(command.full_name);
    if (!command.Is(kWrite) && command.full_name != "cluster|syncslots") sent_without_write.insert(command.full_name);
  });
  EXPECT_THAT(sent_without_write, testing::ElementsAre("pfcount", "ping", "select"));
  EXPECT_THAT(sent, IsSupersetOf({"set", "del", "restore", "pexpireat", "rpush", "sadd", "zadd", "hset", "hmset",
                                  "xadd", "xsetid", "xclaim", "xgroup|create", "copy", "getdel"}));
  for (const char* name : {"flushall", "swapdb", "function|load", "script|load", "eval", "fcall", "publish", "spublish",
                           "migrate", "cluster|setslot"}) {
    EXPECT_FALSE(sent.contains(name)) << name;
  }
  const std::vector<Bytes> hidden = {"CLUSTER", "SYNCSLOTS"};
  EXPECT_TRUE(IsSentBySlotSource(*server_->services().env.commands.FindForReplay(hidden)));
}

TEST_F(StreamContent, NoProtectedCommandBelongs) {
  server_->services().env.commands.ForEach([&](const Command& command) {
    EXPECT_FALSE(command.Is(kProtected) && IsAllowedInStreams(command)) << command.full_name;
  });
}

// --- Harmful commands, and the reply of each path to them.

const std::vector<std::string> kHarmfulLines = {"DEBUG SEGFAULT",
                                                "DEBUG PANIC",
                                                "DEBUG SLEEP 60",
                                                "DEBUG RELOAD",
                                                "TEST CLOCK",
                                                "TEST CLOCK ADVANCE 10s",
                                                "TEST SNAPSHOT SAVE a",
                                                "SHUTDOWN NOSAVE",
                                                "CONFIG SET maxmemory 1",
                                                "REPLICAOF NO ONE",
                                                "ACL SETUSER default off",
                                                "CLUSTER RESET HARD",
                                                "MONITOR",
                                                "SUBSCRIBE c",
                                                "WAITAOF 0 1 0",
                                                "MIGRATE 127.0.0.1 1 a 0 100",
                                                "CLIENT KILL TYPE normal"};

std::vector<std::string> GateWords(const std::string& line) { return SplitQuoted(line).value(); }

constexpr int kGatesPort = 9000;

// The test plays a primary without keys at kGatesPort, and makes the replica follow it.
void LinkToEmptyPrimary(FakeNetwork& network, ReplicationWorld::Member& replica) {
  TestServer other({.directives = {"save \"\""}});
  TestClient(other).Run("SAVE");
  const std::string rdb = other.files().Content("dump.rdb");
  replica.Run(StrCat("REPLICAOF 127.0.0.1 ", kGatesPort));
  network.Step(1000);
  network.SendAs(kGatesPort, StrCat("+PONG\r\n+OK\r\n+OK\r\n+OK\r\n+FULLRESYNC ", std::string(40, 'a'), " 0\r\n$",
                                    rdb.size(), "\r\n", rdb));
  network.Run();
}

// A server without TEST commands has not created the objects that they use. Before a fix, these commands met null
// pointers.
TEST(GatesOfAPrimary, HarmfulCommandsAreRefusedAndTheReplicaLives) {
  for (const bool is_in_transaction : {false, true}) {
    for (const std::string& line : kHarmfulLines) {
      ReplicationWorld world(3);
      FakeNetwork& network = world.network();
      network.Listen(kGatesPort);
      auto& replica = world.Add({"enable-debug-command no"});
      LinkToEmptyPrimary(network, replica);
      ASSERT_TRUE(replica.IsLinked()) << line;
      const std::string request = EncodeRequest(GateWords(line));
      network.SendAs(kGatesPort,
                     is_in_transaction ? EncodeRequest({"MULTI"}) + request + EncodeRequest({"EXEC"}) : request);
      network.Step(1000);
      EXPECT_THAT(replica.Run("PING"), Simple("PONG")) << line;
      EXPECT_EQ(replica.server().StoppedWith(), std::nullopt) << line;
      EXPECT_EQ(replica.Info("role"), "slave") << line;
      // Redis refuses protected commands with these texts, and runs the others.
      const std::string refusal = line.starts_with("DEBUG")  ? "ERR DEBUG command not allowed."
                                  : line.starts_with("TEST") ? "ERR TEST commands are off"
                                                             : kStreamsMayNot;
      EXPECT_THAT(replica.Log(), HasSubstr(refusal)) << line;
    }
  }
}

// A primary may not run protected commands, even if clients of this server may.
TEST(GatesOfAPrimary, ProtectedCommandsAreRefusedWhateverClientsMay) {
  ReplicationWorld world(3);
  FakeNetwork& network = world.network();
  network.Listen(kGatesPort);
  auto& replica = world.Add({"enable-debug-command yes", "test-commands yes"});
  LinkToEmptyPrimary(network, replica);
  ASSERT_TRUE(replica.IsLinked());
  network.SendAs(kGatesPort, EncodeRequest({"DEBUG", "SEGFAULT"}) + EncodeRequest({"TEST", "CLOCK"}));
  network.Step(1000);
  EXPECT_THAT(replica.Log(), HasSubstr(kStreamsMayNot));
  EXPECT_THAT(replica.Log(), Not(HasSubstr("command not allowed")));
  EXPECT_THAT(replica.Run("PING"), Simple("PONG"));
}

class GatesOfFiles : public testing::Test {
 protected:
  // Starts a server with these records in the append-only file.
  std::unique_ptr<ServerLife> StartWith(const std::vector<std::string>& lines, std::vector<std::string> more = {}) {
    std::string text;
    for (const std::string& line : lines) text += EncodeRequest(GateWords(line));
    files_.MakeDirectory("appendonlydir");
    files_.SyncDirectory(".");
    files_.Put("appendonlydir/appendonly.aof.manifest", "file appendonly.aof.1.incr.aof seq 1 type i\n");
    files_.Put("appendonlydir/appendonly.aof.1.incr.aof", text);
    more.emplace_back("appendonly yes");
    return std::make_unique<ServerLife>(files_, more);
  }

  FaultyFiles files_;
};

TEST_F(GatesOfFiles, HarmfulRecordsFailTheLoad) {
  for (const std::string& line : kHarmfulLines) {
    for (const auto& lines : {std::vector<std::string>{"SET a 1", line}, {"MULTI", line, "EXEC"}}) {
      const auto life = StartWith(lines);
      EXPECT_EQ(life->outcome(), LoadOutcome::kFailed) << line;
      EXPECT_EQ(life->server().StoppedWith(), std::nullopt) << line;
      EXPECT_THAT(life->Log(), HasSubstr(kStreamsMayNot)) << line;
    }
  }
}

TEST_F(GatesOfFiles, ScriptsOfRecordsMayNotReachThem) {
  const auto life = StartWith({"EVAL \"return redis.call('MIGRATE', '127.0.0.1', '1', 'a', '0', '100')\" 0"});
  EXPECT_EQ(life->outcome(), LoadOutcome::kFailed);
  EXPECT_THAT(life->Log(), HasSubstr(kStreamsMayNot));
}

// A record that this server once accepted is not refused because of a condition that held before, or holds during
// loading.
TEST_F(GatesOfFiles, WhatMayBeRefusedToClientsIsBelievedOfAFile) {
  const std::string script = "EVAL \"return redis.call('SET', KEYS[1], 'x')\" 1 b";
  auto life = StartWith({"SET a 1", script});
  ASSERT_EQ(life->outcome(), LoadOutcome::kLoaded);
  EXPECT_THAT(life->Run("MGET a b"), ArrayOf(Bulk("1"), Bulk("x")));
  life.reset();
  for (const char* directive : {"maxmemory 1", "min-replicas-to-write 1", "requirepass x", "replicaof 127.0.0.1 1"}) {
    std::vector<std::string> directives = {"appendonly yes", directive, "replica-serve-stale-data no"};
    ServerLife strict(files_, directives);
    EXPECT_EQ(strict.outcome(), LoadOutcome::kLoaded) << directive << "\n" << strict.Log();
    EXPECT_EQ(strict.server()->services().data.dataset.keyspace[0].Size(), 2u) << directive;
  }
}

// The arguments after the ID exist since 7.0. Files and primaries have them even if this server emulates 6.2.
constexpr char kXSetIdOf70[] = "XSETID s 1-3 ENTRIESADDED 3 MAXDELETEDID 1-3";
constexpr char kXSetIdArity[] = "ERR wrong number of arguments for 'xsetid' command";

TEST_F(GatesOfFiles, RecordsMayHaveTheArityOfALaterVersion) {
  for (const auto& lines :
       {std::vector<std::string>{"XADD s 1-3 f v", kXSetIdOf70}, {"MULTI", "XADD s 1-3 f v", kXSetIdOf70, "EXEC"}}) {
    const auto life = StartWith(lines, {"emulate redis:6.2"});
    EXPECT_EQ(life->outcome(), LoadOutcome::kLoaded) << life->Log();
    EXPECT_THAT(life->Run("XLEN s"), Int(1));
    EXPECT_THAT(life->Run(kXSetIdOf70), Error(kXSetIdArity)) << "a client's";
  }
  EXPECT_EQ(StartWith({"XSETID s"}, {"emulate redis:6.2"})->outcome(), LoadOutcome::kFailed);
}

TEST(GatesOfAPrimary, CommandsMayHaveTheArityOfALaterVersion) {
  ReplicationWorld world(3);
  FakeNetwork& network = world.network();
  network.Listen(kGatesPort);
  auto& replica = world.Add({"emulate redis:6.2"});
  LinkToEmptyPrimary(network, replica);
  ASSERT_TRUE(replica.IsLinked());
  const std::string add = EncodeRequest(GateWords("XADD s 1-3 f v"));
  const std::string set_id = EncodeRequest(GateWords(kXSetIdOf70));
  network.SendAs(kGatesPort, add + set_id + EncodeRequest({"MULTI"}) + set_id + EncodeRequest({"EXEC"}));
  network.Run();
  EXPECT_TRUE(replica.IsLinked()) << replica.Log();
  EXPECT_TRUE(replica.history().IsWhole());
  EXPECT_THAT(replica.Run("XLEN s"), Int(1));
  EXPECT_THAT(replica.Run(kXSetIdOf70), Error(kXSetIdArity)) << "a client's";
}

class GatesOfFixtures : public testing::Test {
 protected:
  TestReply Load(Bytes line) { return client_.Run({"TEST", "LOAD", "REDIS", line}); }

  TestServer server_{{.directives = {"test-commands yes"}}};
  TestClient client_{server_};
};

TEST_F(GatesOfFixtures, HarmfulLinesAreRefused) {
  for (const std::string& line : kHarmfulLines) {
    EXPECT_THAT(Load(line), ErrorStartsWith("ERR line 1: ")) << line;
    EXPECT_EQ(server_.StoppedWith(), std::nullopt) << line;
  }
  EXPECT_THAT(Load("SET a"), ErrorStartsWith("ERR line 1: ERR wrong number of arguments"));
  EXPECT_THAT(Load("EVAL \"return redis.call('SET', 'a', 1)\" 0"), Int(1));
}

TEST_F(GatesOfFixtures, HarmfulCommandsOfScriptsAreRefused) {
  for (const std::string& line : kHarmfulLines) {
    std::string arguments;
    for (const std::string& word : GateWords(line)) arguments += (arguments.empty() ? "'" : ", '") + word + "'";
    EXPECT_THAT(Load("EVAL \"return redis.call(" + arguments + ")\" 0"), ErrorStartsWith("ERR line 1: ")) << line;
    EXPECT_EQ(server_.StoppedWith(), std::nullopt) << line;
  }
}

TEST_F(GatesOfFixtures, CommandsNeedThePermissionsOfTheClient) {
  EXPECT_THAT(client_.Run("SET k v"), Ok());
  EXPECT_THAT(client_.Run("ACL SETUSER tester on nopass ~own:* -@all +test +set +eval"), Ok());
  TestClient tester(server_);
  EXPECT_THAT(tester.Run("AUTH tester x"), Ok());
  const auto load = [&](Bytes line) { return tester.Run({"TEST", "LOAD", "REDIS", line}); };
  EXPECT_THAT(load("FLUSHALL"),
              Error("ERR line 1: NOPERM User tester has no permissions to run the 'flushall' command"));
  EXPECT_THAT(load("EVAL \"return redis.call('FLUSHALL')\" 0"), ErrorStartsWith("ERR line 1: eval: ERR ACL failure"));
  EXPECT_THAT(load("SET k other"), ErrorStartsWith("ERR line 1: NOPERM"));
  EXPECT_THAT(load("SET own:k v"), Int(1));
  EXPECT_THAT(client_.Run("GET k"), Bulk("v"));
}

TEST(GatesOfQueuedCommands, HarmfulCommandsAreRefusedWhenTheyAreQueued) {
  for (const char* line : {"DEBUG SLEEP 60", "TEST CLOCK"}) {
    TestServer server;
    TestClient client(server);
    EXPECT_THAT(client.Run("MULTI"), Ok());
    EXPECT_THAT(client.Run(line), ErrorStartsWith("ERR ")) << line;
    EXPECT_THAT(client.Run("EXEC"), ErrorStartsWith("EXECABORT ")) << line;
  }
}

// enable-debug-command may allow the commands to some connections only; a script counts as the connection that runs it.
TEST(GatesOfScripts, ProtectedCommandsAskTheConnection) {
  TestServer server({.directives = {"enable-debug-command local"}});
  TestClient local(server);
  TestClient remote(server);
  local.session().addresses.is_loopback = true;
  local.session().addresses.peer = "127.0.0.1:5000";
  remote.session().addresses.is_loopback = false;
  remote.session().addresses.peer = "10.0.0.1:5000";
  EXPECT_THAT(local.Run("DEBUG SET-DISABLE-DENY-SCRIPTS 1"), Ok());
  constexpr char kProtocol[] = "return redis.pcall('DEBUG', 'PROTOCOL', 'integer')";
  EXPECT_THAT(local.Run({"EVAL", kProtocol, "0"}), Int(12345));
  EXPECT_THAT(remote.Run({"EVAL", kProtocol, "0"}), ErrorStartsWith("ERR DEBUG command not allowed."));
}

TEST(GatesOfScripts, HarmfulCommandsAreRefused) {
  TestServer server;
  TestClient client(server);
  for (const std::string& line : kHarmfulLines) {
    if (line.starts_with("MIGRATE") || line.starts_with("CLUSTER")) continue;  // scripts may call these
    std::string arguments;
    for (const std::string& word : GateWords(line)) arguments += (arguments.empty() ? "'" : ", '") + word + "'";
    EXPECT_THAT(client.Run({"EVAL", "return redis.pcall(" + arguments + ")", "0"}), Error(kScriptsMayNot)) << line;
  }
}

}  // namespace
}  // namespace respite
