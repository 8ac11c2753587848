// An append-only file restores its data under any current directives, and a command that fails during loading is always
// reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "protocol/request_text.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/server_life.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kManifestFile[] = "appendonlydir/appendonly.aof.manifest";
constexpr char kIncrementalFile[] = "appendonlydir/appendonly.aof.1.incr.aof";

class AofReplayTest : public testing::Test {
 protected:
  std::unique_ptr<ServerLife> Start(std::vector<std::string> more = {}) {
    std::vector<std::string> directives = {"appendonly yes", "appendfsync always", "enable-debug-command yes"};
    directives.insert(directives.end(), more.begin(), more.end());
    return std::make_unique<ServerLife>(files_, directives);
  }
  // Writes a file as another server does.
  void PutRecords(const std::vector<std::vector<std::string>>& records) {
    std::string text;
    for (const auto& words : records) AppendRequest(text, std::vector<Bytes>(words.begin(), words.end()));
    files_.MakeDirectory("appendonlydir");
    files_.SyncDirectory(".");
    files_.Put(kManifestFile, "file appendonly.aof.1.incr.aof seq 1 type i\n");
    files_.Put(kIncrementalFile, text);
  }
  std::string Persistence(ServerLife& life) { return life.Run("INFO persistence").Text(); }

  FaultyFiles files_;
};

// Redis 7.2 writes both the LIMIT of a trim and its result.
TEST_F(AofReplayTest, TrimsOfRedisWithTheirLimit) {
  PutRecords({{"SELECT", "0"},
              {"XADD", "s", "MAXLEN", "=", "1", "LIMIT", "100", "1-1", "a", "b"},
              {"XADD", "s", "MAXLEN", "=", "2", "LIMIT", "100", "2-1", "a", "b"},
              {"XADD", "s", "MINID", "=", "2-1", "LIMIT", "100", "3-1", "a", "b"},
              {"XADD", "s", "NOMKSTREAM", "MAXLEN", "=", "3", "LIMIT", "7", "4-1", "a", "b"},
              {"XTRIM", "s", "MAXLEN", "=", "2", "LIMIT", "1"},
              {"XTRIM", "s", "MINID", "=", "4-1", "LIMIT", "1"}});
  auto life = Start();
  ASSERT_EQ(life->outcome(), LoadOutcome::kLoaded);
  EXPECT_THAT(life->Run("XRANGE s - +"), ArrayOf(ArrayOf(Bulk("4-1"), ArrayOf(Bulk("a"), Bulk("b")))));
  EXPECT_THAT(life->Run("XADD s MAXLEN = 5 LIMIT 2 * a b"), ErrorStartsWith("ERR syntax error, LIMIT")) << "clients";
}

TEST_F(AofReplayTest, ComparisonsOfValkey) {
  PutRecords({{"SELECT", "0"}, {"SET", "a", "1"}, {"SET", "a", "2", "IFEQ", "1", "GET", "PXAT", "33177117420000"}});
  auto life = Start();
  ASSERT_EQ(life->outcome(), LoadOutcome::kLoaded);
  EXPECT_THAT(life->Run("GET a"), Bulk("2"));
  EXPECT_THAT(life->Run("PEXPIRETIME a"), Int(33177117420000));
  EXPECT_THAT(life->Run("SET a 3 IFEQ 1"), Nil()) << "clients";
}

// Redis 7.0 accepts an XSETID that later versions refuse, and writes such a command when it rewrites its file.
TEST_F(AofReplayTest, XSetIdOfRedis70MayLowerTheLastId) {
  PutRecords({{"SELECT", "0"},
              {"XADD", "s", "5-1", "a", "b"},
              {"XDEL", "s", "5-1"},
              {"XSETID", "s", "3-1"},
              {"XADD", "t", "5-1", "a", "b"},
              {"XTRIM", "t", "MAXLEN", "0"},
              {"XSETID", "t", "3-1", "ENTRIESADDED", "7", "MAXDELETEDID", "5-1"}});
  auto life = Start();
  ASSERT_EQ(life->outcome(), LoadOutcome::kLoaded);
  for (const char* key : {"s ", "t "}) {
    EXPECT_THAT(life->Run("XADD " + std::string(key) + "4-1 a b"), Bulk("4-1")) << key;
    EXPECT_THAT(life->Run("XSETID " + std::string(key) + "4-1"), Ok()) << key;
  }
  EXPECT_THAT(life->Run("XSETID s 4-1 MAXDELETEDID 5-1"), ErrorStartsWith("ERR The ID specified")) << "clients";
}

TEST_F(AofReplayTest, TextsAboveTheLimitForClients) {
  const std::string megabyte(1024 * 1024, 'x');
  Snapshot before;
  {
    auto life = Start({"proto-max-bulk-len 4mb"});
    for (const char* key : {"a", "b", "c", "d"}) life->client().Run({"SET", key, megabyte});
    life->client().Run({"APPEND", "a", "more"});
    life->Run("SETRANGE b 1048576 more");
    life->Run("SETBIT c 8388700 1");
    life->Run("BITFIELD d SET u8 8388700 7");
    before = life->Data();
  }
  auto life = Start({"proto-max-bulk-len 1mb"});
  ASSERT_EQ(life->outcome(), LoadOutcome::kLoaded);
  EXPECT_EQ(SnapshotDifference(before, life->Data()), "");
  EXPECT_THAT(life->Run("APPEND a x"), ErrorStartsWith("ERR string exceeds maximum allowed size"));
}

TEST_F(AofReplayTest, IgnoresMaxMemoryAndPermissions) {
  PutRecords({{"RPUSH", "l", "2", "1"},
              {"SET", "w_1", "5"},
              {"SORT", "l", "BY", "w_*", "GET", "w_*", "STORE", "d"},
              {"EVAL", "return redis.call('SET', KEYS[1], 'v')", "1", "k"},
              {"EVAL", "#!lua\nreturn redis.call('SET', KEYS[1], 'v')", "1", "m"}});
  auto life = Start({"maxmemory 1", "maxmemory-policy noeviction", "min-replicas-to-write 1"});
  ASSERT_EQ(life->outcome(), LoadOutcome::kLoaded);
  EXPECT_EQ(life->Data().size(), 5u);
  EXPECT_THAT(life->Run("SET k v"), ErrorStartsWith("")) << "clients";
  life->Run("ACL SETUSER default resetkeys -@all +debug");
  EXPECT_THAT(life->Run("DEBUG LOADAOF"), Ok());
  EXPECT_EQ(life->Data().size(), 5u);
}

TEST_F(AofReplayTest, RenamedCommandsKeepTheirNameInTheFile) {
  const std::vector<std::string> renames = {"rename-command SET put", "rename-command DEL \"\"",
                                            "rename-command XGROUP xg", "rename-command LPUSH SET"};
  Snapshot before;
  {
    auto life = Start(renames);
    life->Run("put k v");
    life->Run("set l a");
    life->Run("xg CREATE s g $ MKSTREAM");
    life->Run("put gone v");
    life->Run("GETEX gone PXAT 1");  // the propagated command is a DEL, which this user may not send
    before = life->Data();
    EXPECT_EQ(before.size(), 3u);
  }
  EXPECT_THAT(files_.Content(kIncrementalFile), Not(HasSubstr("put")));
  auto life = Start(renames);
  ASSERT_EQ(life->outcome(), LoadOutcome::kLoaded);
  EXPECT_EQ(SnapshotDifference(before, life->Data()), "");
  life.reset();
  life = Start();
  ASSERT_EQ(life->outcome(), LoadOutcome::kLoaded) << "without the renames, too";
  EXPECT_EQ(SnapshotDifference(before, life->Data()), "");
}

TEST_F(AofReplayTest, FewerDatabasesThanTheFileUses) {
  Start()->Run("SET k v");
  {
    auto life = Start();
    life->Run("SELECT 9");
    life->Run("SET there v");
  }
  const std::string before = files_.Content(kIncrementalFile);
  auto life = Start({"databases 5"});
  EXPECT_EQ(life->outcome(), LoadOutcome::kFailed);
  EXPECT_THAT(life->Log(), HasSubstr("selects a database that this server does not have (databases 5)"));
  life.reset();
  EXPECT_EQ(Start({"databases 5", "aof-load-failed-commands yes"})->outcome(), LoadOutcome::kFailed)
      << "its keys must not come into another database";
  EXPECT_EQ(files_.Content(kIncrementalFile), before);
  EXPECT_EQ(Start()->Data().size(), 2u);
}

TEST_F(AofReplayTest, ACommandThatFailsIsNeverSilent) {
  PutRecords({{"SET", "k", "v"}, {"LPUSH", "k", "x"}, {"MULTI"}, {"SET", "l", "w"}, {"INCR", "l"}, {"EXEC"}});
  const std::string before = files_.Content(kIncrementalFile);
  const size_t lpush = before.find("*3\r\n$5\r\nLPUSH");
  const size_t incr = before.find("*2\r\n$4\r\nINCR");
  auto life = Start();
  EXPECT_EQ(life->outcome(), LoadOutcome::kFailed);
  EXPECT_THAT(life->Log(), HasSubstr(StrCat("'lpush' at offset ", lpush,
                                            " of the append only file appendonly.aof.1.incr.aof failed: WRONGTYPE")));
  EXPECT_THAT(life->Log(), HasSubstr(StrCat("'incr' at offset ", incr)));
  EXPECT_THAT(life->Log(), HasSubstr("Fatal error: 2 of the commands in the append only file failed"));
  EXPECT_EQ(files_.Content(kIncrementalFile), before);
  life.reset();

  life = Start({"aof-load-failed-commands yes"});
  EXPECT_EQ(life->outcome(), LoadOutcome::kLoaded);
  EXPECT_THAT(Persistence(*life), HasSubstr("aof_load_failed_commands:2\r\n"));
  EXPECT_THAT(life->Run("GET l"), Bulk("w"));
  EXPECT_THAT(life->Run("CONFIG SET aof-load-failed-commands no"), Ok());
  EXPECT_THAT(life->Run("DEBUG LOADAOF"), ErrorStartsWith("ERR Error trying to load the AOF files"));
  EXPECT_THAT(life->Run("GET l"), Bulk("w")) << "what was there is there";
  life->Run("BGREWRITEAOF");
  life->server().Cron();
  life.reset();
  EXPECT_THAT(Persistence(*Start()), HasSubstr("aof_load_failed_commands:0\r\n"));
}

TEST_F(AofReplayTest, ATornEndIsNotCutWhenTheFileIsRefused) {
  PutRecords({{"SET", "k", "v"}, {"LPUSH", "k", "x"}});
  const std::string torn = files_.Content(kIncrementalFile) + "*2\r\n$3";
  files_.Put(kIncrementalFile, torn);
  EXPECT_EQ(Start()->outcome(), LoadOutcome::kFailed);
  EXPECT_EQ(files_.Content(kIncrementalFile), torn);
}

TEST_F(AofReplayTest, RefusesCommandsThatDoNotBelongIntoAFile) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"SET"},
                                                {"SUBSCRIBE", "c"},
                                                {"MONITOR"},
                                                {"WATCH", "k"},
                                                {"SHUTDOWN"},
                                                {"EXEC"},
                                                {"CONFIG", "SET", "maxmemory", "1"},
                                                {"DEBUG", "SEGFAULT"},
                                                {"CLIENT", "TRACKING", "ON"}}) {
    PutRecords({words, {"SET", "k", "v"}});
    auto life = Start();
    EXPECT_EQ(life->outcome(), LoadOutcome::kFailed) << words[0];
    life.reset();
    PutRecords({{"MULTI"}, words, {"SET", "k", "v"}, {"EXEC"}});
    life = Start({"aof-load-failed-commands yes"});
    if (words[0] == "EXEC") continue;
    EXPECT_EQ(life->outcome(), LoadOutcome::kLoaded) << words[0];
    EXPECT_THAT(life->Run("GET k"), Bulk("v"));
    EXPECT_THAT(Persistence(*life), HasSubstr("aof_load_failed_commands:1\r\n")) << words[0];
  }
}

TEST_F(AofReplayTest, ATransactionWithinATransactionLosesNothing) {
  PutRecords({{"MULTI"}, {"SET", "k", "v"}, {"MULTI"}, {"SET", "l", "w"}, {"EXEC"}});
  auto life = Start({"aof-load-failed-commands yes"});
  EXPECT_EQ(life->outcome(), LoadOutcome::kLoaded);
  EXPECT_EQ(life->Data().size(), 2u);
}

// A script in a file may have no end. Other clients are served, and may kill it.
TEST_F(AofReplayTest, AnEndlessScriptOfAFileCanBeKilled) {
  PutRecords({{"SELECT", "0"}, {"SET", "a", "1"}});
  auto life = Start({"busy-reply-threshold 100"});
  ASSERT_EQ(life->outcome(), LoadOutcome::kLoaded);
  TestServer& server = life->server();
  TestClient other(server);
  server.clock().AdvanceWithEachReading(1000);
  for (const bool has_written : {false, true}) {
    const std::string script = std::string(has_written ? "redis.call('SET', 'b', 1) " : "") + "while true do end";
    PutRecords({{"SELECT", "0"}, {"SET", "a", "2"}, {"EVAL", script, "0"}});
    std::string heard;
    server.DuringLongTasks([&, done = false]() mutable {
      if (std::exchange(done, true)) return;
      heard = other.Raw("PING\r\nSCRIPT KILL\r\n");
      if (has_written) other.Run("SHUTDOWN NOSAVE");
    });
    EXPECT_THAT(life->Run("DEBUG LOADAOF"), ErrorStartsWith("ERR ")) << script;
    EXPECT_THAT(heard, HasSubstr("-LOADING ")) << script;
    EXPECT_THAT(heard, HasSubstr(has_written ? "-UNKILLABLE " : "+OK")) << script;
  }
  EXPECT_THAT(life->Log(), HasSubstr("Slow script detected"));
  EXPECT_THAT(life->Log(), HasSubstr("Script killed by user with SCRIPT KILL"));
}

// No single script is long enough to count as slow, but together they would keep all clients waiting.
TEST_F(AofReplayTest, ClientsAreServedBetweenSlowScripts) {
  PutRecords({{"SELECT", "0"}, {"SET", "a", "1"}});
  auto life = Start({"busy-reply-threshold 0"});
  ASSERT_EQ(life->outcome(), LoadOutcome::kLoaded);
  TestServer& server = life->server();
  TestClient other(server);
  server.clock().AdvanceWithEachReading(100'000);
  const std::vector<std::string> slow = {"EVAL", "return 1", "0"};
  PutRecords({{"SELECT", "0"}, {"SET", "a", "2"}, slow, slow, {"MULTI"}, slow, slow, {"EXEC"}, {"SET", "b", "3"}});
  std::string heard;
  server.DuringLongTasks([&] { heard += other.Raw("PING\r\n"); });
  EXPECT_THAT(life->Run("DEBUG LOADAOF"), Ok());
  size_t served = 0;
  for (size_t at = heard.find("-LOADING "); at != std::string::npos; at = heard.find("-LOADING ", at + 1)) ++served;
  EXPECT_GE(served, 4u) << heard;
  server.DuringLongTasks([&] { other.Run("SHUTDOWN NOSAVE"); });
  EXPECT_THAT(life->Run("DEBUG LOADAOF"), ErrorStartsWith("ERR "));
}

TEST_F(AofReplayTest, AnEndlessLibraryOfAFileFails) {
  PutRecords({{"SELECT", "0"}, {"SET", "a", "1"}});
  auto life = Start();
  life->server().clock().AdvanceWithEachReading(1000);
  PutRecords({{"SELECT", "0"}, {"FUNCTION", "LOAD", "#!lua name=x\nwhile true do end"}});
  EXPECT_THAT(life->Run("DEBUG LOADAOF"), ErrorStartsWith("ERR "));
  EXPECT_THAT(life->Log(), HasSubstr("FUNCTION LOAD timeout"));
  EXPECT_THAT(life->Run("GET a"), Bulk("1"));
}

}  // namespace
}  // namespace respite
