// TEST SNAPSHOT and TEST RESET over the protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TestSnapshotTest : public testing::Test {
 protected:
  ~TestSnapshotTest() override { ExpectReplayMatches(server_); }

  size_t Kept() { return static_cast<size_t>(client_.Run("TEST SNAPSHOT LIST")[0][7].Integer()); }
  // "0 added k" for each difference.
  std::vector<std::string> Diff(const std::string& names) {
    const TestReply reply = client_.Run("TEST SNAPSHOT DIFF " + names);
    std::vector<std::string> lines;
    for (size_t i = 0; i < reply.Size(); ++i) {
      lines.push_back(StrCat(reply[i][1].Integer(), " ", reply[i][5].Text(), " ", reply[i][3].Text()));
    }
    return lines;
  }

  TestServer server_{{.directives = {"test-commands yes"}}};
  TestClient client_{server_};
};

TEST_F(TestSnapshotTest, BringsBackWhatHasChanged) {
  client_.Run("SET same 1");
  client_.Run("RPUSH list a b");
  client_.Run("HSET gone f v");
  EXPECT_THAT(client_.Run("TEST SNAPSHOT SAVE s"), Ok());
  EXPECT_EQ(Kept(), 0u);
  client_.Run("RPUSH list c");
  client_.Run("DEL gone");
  client_.Run("SADD new x");
  EXPECT_THAT(Diff("s"), ElementsAre("0 removed gone", "0 changed list", "0 added new"));
  EXPECT_THAT(client_.Run("TEST SNAPSHOT RESTORE s"), Ok());
  EXPECT_THAT(client_.Run("LRANGE list 0 -1"), Bulks({"a", "b"}));
  EXPECT_THAT(client_.Run("HGET gone f"), Bulk("v"));
  EXPECT_THAT(client_.Run("EXISTS new"), Int(0));
  EXPECT_THAT(Diff("s"), ElementsAre());
}

TEST_F(TestSnapshotTest, KeepsAValueOnceHoweverOftenItChanges) {
  client_.Run("SET k 0");
  client_.Run("TEST SNAPSHOT SAVE s");
  for (int i = 0; i < 100; ++i) client_.Run("INCR k");
  EXPECT_EQ(Kept(), 1u);
  client_.Run("TEST SNAPSHOT RESTORE s");
  EXPECT_THAT(client_.Run("GET k"), Bulk("0"));
  EXPECT_EQ(Kept(), 0u);
}

TEST_F(TestSnapshotTest, AFlushedDatabaseMovesIntoItAndBack) {
  client_.Run("MSET a 1 b 2 c 3");
  client_.Run("TEST SNAPSHOT SAVE s");
  client_.Run("SET a changed");
  client_.Run("FLUSHALL");
  client_.Run("SET later 1");
  EXPECT_THAT(Diff("s"), ElementsAre("0 removed a", "0 removed b", "0 removed c", "0 added later"));
  client_.Run("TEST SNAPSHOT RESTORE s");
  EXPECT_THAT(client_.Run("MGET a b c later"), ArrayOf(Bulk("1"), Bulk("2"), Bulk("3"), Nil()));
}

// Restores keys one by one, and also as part of a whole database.
TEST_F(TestSnapshotTest, TellsWatchersAndBlockedClients) {
  for (const std::vector<std::string>& changes : {std::vector<std::string>{"DEL queue", "SET k 2"}, {"FLUSHALL"}}) {
    TestClient watches(server_), waits(server_);
    client_.Run("FLUSHALL");
    client_.Run("RPUSH queue job");
    client_.Run("SET k 1");
    client_.Run("TEST SNAPSHOT SAVE s");
    for (const std::string& change : changes) client_.Run(change);
    watches.Run("WATCH k");
    watches.Run("MULTI");
    watches.Run("PING");
    waits.Run("BLPOP queue 0");
    client_.Run("TEST SNAPSHOT RESTORE s");
    EXPECT_THAT(watches.Run("EXEC"), NilArray()) << changes[0];
    EXPECT_THAT(waits.Read(), Bulks({"queue", "job"})) << changes[0];
  }
}

TEST_F(TestSnapshotTest, DiffSeesConsumerGroups) {
  client_.Run("XADD s 1-1 f v");
  client_.Run("TEST SNAPSHOT SAVE before");
  client_.Run("XGROUP CREATE s g 0");
  EXPECT_THAT(Diff("before"), ElementsAre("0 changed s"));
  client_.Run("TEST SNAPSHOT SAVE group");
  EXPECT_THAT(Diff("group"), ElementsAre());
  client_.Run("XREADGROUP GROUP g ann STREAMS s >");
  EXPECT_THAT(Diff("group"), ElementsAre("0 changed s"));
}

TEST_F(TestSnapshotTest, DiffSeesAttributesOfVectorsAndPartsOfDocuments) {
  client_.Run("VADD v VALUES 2 1 2 a");
  client_.Run({"JSON.SET", "j", "$", R"({"a":[1,{"b":"c"}]})"});
  client_.Run("TEST SNAPSHOT SAVE before");
  client_.Run("VSETATTR v a 5");
  EXPECT_THAT(Diff("before"), ElementsAre("0 changed v"));
  client_.Run({"JSON.SET", "j", "$.a[1].b", R"("d")"});
  EXPECT_THAT(Diff("before"), ElementsAre("0 changed j", "0 changed v"));
  client_.Run("TEST SNAPSHOT RESTORE before");
  EXPECT_THAT(Diff("before"), ElementsAre());
  EXPECT_THAT(client_.Run("VGETATTR v a"), Nil());
  EXPECT_EQ(client_.Run("JSON.GET j").Text(), R"({"a":[1,{"b":"c"}]})");
}

// Directives in no particular order; some of them are fixed at the start or change with the role.
TEST_F(TestSnapshotTest, BringsBackDirectivesThatCanBeSet) {
  TestClient other(server_);
  client_.Run("TEST SNAPSHOT SAVE s");
  for (const char* change : {"stop-writes-on-bgsave-error no", "zset-max-listpack-entries 7", "appendfsync always",
                             "slave-priority 7", "timeout 0", "busy-reply-threshold 1", "test-world-idle 5m"}) {
    EXPECT_THAT(client_.Run("CONFIG SET " + std::string(change)), Ok()) << change;
  }
  EXPECT_THAT(client_.Run("TEST SNAPSHOT RESTORE s"), Ok());
  EXPECT_EQ(client_.Run("CONFIG GET stop-writes-on-bgsave-error")[1].Text(), "yes");
  EXPECT_EQ(client_.Run("CONFIG GET replica-priority")[1].Text(), "100");
  EXPECT_EQ(client_.Run("CONFIG GET test-world-idle")[1].Text(), "10m");  // CONFIG GET * hides it
  client_.Run("CONFIG SET stop-writes-on-bgsave-error no");
  client_.Run("CONFIG SET slowlog-max-len 0 commandlog-execution-slower-than 5");
  client_.Run("REPLICAOF 127.0.0.1 1");
  client_.Run("REPLICAOF NO ONE");
  EXPECT_THAT(client_.Run("TEST RESET CONFIG"), Ok());
  EXPECT_EQ(client_.Run("CONFIG GET busy-reply-threshold")[1].Text(), "5000");
  EXPECT_EQ(client_.Run("CONFIG GET slowlog-max-len")[1].Text(), "128");  // remembered under its alias
  EXPECT_EQ(client_.Run("CONFIG GET slowlog-log-slower-than")[1].Text(), "10000");
  EXPECT_FALSE(other.Closed());
}

TEST_F(TestSnapshotTest, BringsBackEverythingElse) {
  client_.Run("TEST CLOCK FREEZE 1700000000000");
  client_.Run("SET k v EX 60");
  client_.Run("SCRIPT LOAD \"return 1\"");
  client_.Run("FUNCTION LOAD \"#!lua name=one\\nredis.register_function('f', function() return 1 end)\"");
  client_.Run("ACL SETUSER ann on nopass ~* +@all");
  client_.Run("CONFIG SET maxmemory-policy allkeys-lru");
  client_.Run("TEST SNAPSHOT SAVE s");
  client_.Run("TEST CLOCK ADVANCE 2h");
  client_.Run("SCRIPT FLUSH");
  client_.Run("SCRIPT LOAD \"return 2\"");
  client_.Run("FUNCTION FLUSH");
  client_.Run("ACL DELUSER ann");
  client_.Run("CONFIG SET maxmemory-policy noeviction");
  EXPECT_THAT(client_.Run("TEST SNAPSHOT RESTORE s"), Ok());
  EXPECT_THAT(client_.Run("TTL k"), Int(60));
  EXPECT_THAT(client_.Run("FCALL f 0"), Int(1));
  EXPECT_THAT(client_.Run("EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0"), Int(1));
  EXPECT_THAT(client_.Run("EVALSHA 7f923f79fe76194c868d7e1d0820de36700eb649 0"), ErrorStartsWith("NOSCRIPT"));
  EXPECT_THAT(client_.Run("ACL USERS"), Bulks({"ann", "default"}));
  EXPECT_EQ(client_.Run("CONFIG GET maxmemory-policy")[1].Text(), "allkeys-lru");
}

TEST_F(TestSnapshotTest, ResetBringsBackTheStart) {
  TestClient other(server_);
  client_.Run("CONFIG SET maxmemory-policy allkeys-lru");
  client_.Run("ACL SETUSER ann on nopass ~* +@all");
  client_.Run("SET k v");
  client_.Run("TEST SNAPSHOT SAVE s");
  client_.Run("TEST CLOCK FREEZE");
  EXPECT_THAT(client_.Run("TEST RESET CONFIG"), Ok());
  EXPECT_EQ(client_.Run("CONFIG GET maxmemory-policy")[1].Text(), "noeviction");
  EXPECT_THAT(client_.Run("EXISTS k"), Int(1));
  EXPECT_FALSE(other.Closed());
  EXPECT_THAT(client_.Run("TEST RESET"), Ok());
  EXPECT_THAT(client_.Run("DBSIZE"), Int(0));
  EXPECT_THAT(client_.Run("ACL USERS"), Bulks({"default"}));
  EXPECT_EQ(client_.Run("TEST SNAPSHOT LIST").Size(), 0u);
  EXPECT_EQ(client_.Run("TEST CLOCK")[1].Text(), "real");
  EXPECT_TRUE(other.Closed());
}

TEST_F(TestSnapshotTest, AReplicaRefusesToResetDataAndChangesNothing) {
  client_.Run("REPLICAOF 127.0.0.1 1");
  client_.Run("CONFIG SET maxmemory 100mb");
  for (const char* parts : {"", " DATA", " CONFIG DATA"}) {
    EXPECT_THAT(client_.Run(StrCat("TEST RESET", parts)),
                Error("ERR this server is a replica, which has the data of its primary. Reset the data there"));
  }
  EXPECT_THAT(client_.Run("CONFIG GET maxmemory")[1], Bulk("104857600"));
  EXPECT_THAT(client_.Run("TEST RESET CONFIG"), Ok());
  EXPECT_THAT(client_.Run("CONFIG GET maxmemory")[1], Bulk("0"));
}

TEST_F(TestSnapshotTest, RefusesWhatItCannotDo) {
  EXPECT_THAT(client_.Run("TEST SNAPSHOT RESTORE none"),
              Error("ERR no snapshot 'none'. TEST SNAPSHOT LIST shows them"));
  for (const char* action : {"SAVE", "SAVE a b", "DEL none", "DIFF none", "MAKE s", "LIST all"}) {
    EXPECT_THAT(client_.Run("TEST SNAPSHOT " + std::string(action)), ErrorStartsWith("ERR ")) << action;
  }
  EXPECT_THAT(client_.Run("TEST RESET DATA TIME"), ErrorStartsWith("ERR unknown subcommand"));
  for (int i = 0; i < 1000; ++i) client_.Run(StrCat("TEST SNAPSHOT SAVE s:", i));
  EXPECT_THAT(client_.Run("TEST SNAPSHOT SAVE more"), Error("ERR there are 1000 snapshots already. Delete one first"));
  EXPECT_THAT(client_.Run("TEST SNAPSHOT SAVE s:0"), Ok());
  client_.Run("TEST RESET SNAPSHOTS");
  client_.Run("SET k v");
  client_.Run("CONFIG SET maxmemory 1");
  EXPECT_THAT(client_.Run("TEST SNAPSHOT SAVE s"), ErrorStartsWith("OOM"));
  client_.Run("CONFIG SET maxmemory 0");
}

TEST_F(TestSnapshotTest, IsLostWhenAnotherDataSetTakesThePlace) {
  client_.Run("SET k v");
  client_.Run("TEST SNAPSHOT SAVE s");
  client_.Run("SET k w");
  server_->services().data.dataset.keeper->OnReplaced();
  EXPECT_THAT(client_.Run("TEST SNAPSHOT RESTORE s"), ErrorStartsWith("ERR the data was replaced"));
  EXPECT_EQ(client_.Run("TEST SNAPSHOT LIST").Size(), 0u);
  EXPECT_THAT(client_.Run("TEST SNAPSHOT SAVE s"), Ok());
  EXPECT_EQ(Kept(), 0u);
}

// Makes, restores and removes snapshots in any order between random commands, and compares them with whole copies of
// the data.
TEST(TestSnapshotPropertyTest, EachSnapshotHasTheDataOfItsMoment) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(StrCat("seed ", seed));
  std::mt19937 random(seed);
  const auto pick = [&](size_t below) { return random() % below; };
  TestServer server({.directives = {"test-commands yes", "list-max-listpack-size 4", "hash-max-listpack-entries 4"}});
  TestClient client(server);
  client.Run("TEST CLOCK FREEZE 1700000000000");
  std::map<std::string, Snapshot> models;
  constexpr std::array kCommands = {"SET $ #",
                                    "APPEND $ #",
                                    "INCR $",
                                    "DEL $",
                                    "RPUSH $ # # #",
                                    "LPOP $",
                                    "HSET $ # v # w",
                                    "HDEL $ #",
                                    "HEXPIRE $ 5 FIELDS 1 #",
                                    "SADD $ # #",
                                    "SPOP $",
                                    "ZADD $ 1 # 2 #",
                                    "ZPOPMIN $",
                                    "XADD $ * f #",
                                    "XGROUP CREATE $ g 0 MKSTREAM",
                                    "XREADGROUP GROUP g c STREAMS $ >",
                                    "JSON.SET $ $ '{\"a\":[#,#]}'",
                                    "JSON.ARRAPPEND $ .a #",
                                    "JSON.DEL $ .a[0]",
                                    "VADD $ VALUES 2 # 1 e#",
                                    "VREM $ e#",
                                    "VSETATTR $ e# {}",
                                    "EXPIRE $ 5",
                                    "PERSIST $",
                                    "RENAME $ $",
                                    "COPY $ $ REPLACE",
                                    "MOVE $ 1",
                                    "SETBIT $ 100 1",
                                    "PFADD $ #",
                                    "GETEX $ EX 3",
                                    "GETDEL $",
                                    "SORT $ BY nosort STORE $",
                                    "TEST CLOCK ADVANCE 2s",
                                    "SELECT 0",
                                    "SELECT 1",
                                    "FLUSHDB",
                                    "SWAPDB 0 1",
                                    "EVAL \"redis.call('SET', KEYS[1], 'x') redis.call('DEL', KEYS[2])\" 2 $ $"};
  for (int step = 0; step < 3000; ++step) {
    const std::string name(1, static_cast<char>('p' + pick(3)));
    const size_t choice = pick(40);
    if (choice == 0) {
      client.Run("TEST SNAPSHOT SAVE " + name);
      models[name] = SnapshotOf(*server);
    } else if (choice == 1 && models.contains(name)) {
      ASSERT_THAT(client.Run("TEST SNAPSHOT RESTORE " + name), Ok());
      ASSERT_EQ(SnapshotDifference(models[name], SnapshotOf(*server)), "") << "step " << step;
    } else if (choice == 2 && models.erase(name) != 0) {
      client.Run("TEST SNAPSHOT DEL " + name);
    } else {
      std::string line;
      for (const char c : std::string(kCommands[pick(kCommands.size() - (pick(4) == 0 ? 0 : 3))])) {
        if (c == '$')
          StrAppend(line, "k", pick(12));
        else if (c == '#')
          line += std::to_string(pick(9));
        else
          line += c;
      }
      client.Run(line);
    }
  }
  ExpectReplayMatches(server);
}

// The error comes from the compilation of the snapshot's scripts.
TEST_F(TestSnapshotTest, ScriptsRunAfterALostSnapshot) {
  client_.Run("TEST SNAPSHOT SAVE s");
  server_->services().data.dataset.keeper->OnReplaced();
  EXPECT_THAT(client_.Run("TEST SNAPSHOT RESTORE s").Text(), HasSubstr("which is lost"));
  EXPECT_EQ(client_.Run("EVAL 'return 1' 0").Integer(), 1);
  EXPECT_THAT(client_.Run("SCRIPT KILL").Text(), HasSubstr("NOTBUSY"));
}

}  // namespace
}  // namespace respite
