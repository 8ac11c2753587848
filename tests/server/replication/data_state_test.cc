// The state of a replica's data (History::data) after a snapshot that could not be read or loaded, and after a command
// of the primary that failed. Such a replica must not replace its primary by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <utility>

#include "server/replication/replication.h"
#include "server/storage/append_only_file.h"
#include "server/storage/shutdown.h"
#include "tests/support/cluster_pair.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using ReplicationMember = ReplicationWorld::Member;
using testing::HasSubstr;
using testing::Not;

constexpr int kStrangePort = 9000;
const std::string kStrangeId(40, 'b');
const std::string kEofMark(40, 'e');
const std::vector<std::string> kLoadModes = {"disabled", "on-empty-db", "swapdb", "flush-before-load"};

// A primary that the test plays, and a replica with each mode of loading.
class DataStateTest : public testing::Test {
 protected:
  struct Pair {
    explicit Pair(std::vector<std::string> directives, uint64_t seed = 5)
        : world(seed), stranger(world.network().Listen(kStrangePort)), replica(world.Add(std::move(directives))) {}

    void Say(Bytes bytes) {
      world.network().SendAs(kStrangePort, bytes);
      world.network().Run();
    }
    void Follow() { replica.Run("REPLICAOF 127.0.0.1 " + std::to_string(kStrangePort)); }
    // Answers the handshake up to PSYNC after the replica has connected.
    void Greet() {
      for (int i = 0; i < 900 && stranger.received.find("PING") == std::string::npos; ++i) world.network().Step(100);
      Say("+PONG\r\n+OK\r\n+OK\r\n+OK\r\n");
      ASSERT_THAT(stranger.received, HasSubstr("PSYNC"));
      stranger.received.clear();
    }
    void SendSnapshot(const std::string& rdb, int64_t offset = 100) {
      Say("+FULLRESYNC " + kStrangeId + " " + std::to_string(offset) + "\r\n$" + std::to_string(rdb.size()) + "\r\n" +
          rdb);
    }
    void Link(const std::string& rdb) {
      Greet();
      SendSnapshot(rdb);
      ASSERT_TRUE(replica.IsLinked());
      stranger.received.clear();
    }
    // Gives the replica's data a history that other servers know.
    void AddReplica() {
      ReplicationMember& other = world.Add({});
      other.Follow(replica);
      world.network().Step(2500);
      ASSERT_TRUE(other.IsLinked());
    }
    void BreakLink() {
      stranger.received.clear();
      world.network().HangUpAs(kStrangePort);
      world.network().Run();
    }
    // Breaks a full resynchronization after the replica has dropped its data.
    void LoseData() {
      BreakLink();
      Greet();
      Say("+FULLRESYNC " + kStrangeId + " 500\r\n$5000\r\n" + LongRdb().substr(0, 1000));
      BreakLink();
    }

    ReplicationWorld world;
    FakeNetwork::Stranger& stranger;
    ReplicationMember& replica;
  };

  static std::string Rdb(const std::vector<std::string>& lines) {
    TestServer other({.directives = {"save \"\""}});
    TestClient client(other);
    for (const std::string& line : lines) client.Run(line);
    client.Run("SAVE");
    return other.files().Content("dump.rdb");
  }
  static std::string LongRdb() {
    std::vector<std::string> lines;
    for (int i = 0; i < 200; ++i) lines.push_back("SET key" + std::to_string(i) + " value");
    return Rdb(lines);
  }
  // Sends PSYNC … FAILOVER, as a primary does that hands over its role.
  static TestReply AskForRole(ReplicationMember& replica) {
    TestClient client(replica.server());
    return client.Run("PSYNC " + replica.history().id + " " + std::to_string(replica.history().offset + 1) +
                      " FAILOVER");
  }
  static void ExpectUnfit(ReplicationMember& replica, const std::string& state) {
    EXPECT_FALSE(replica.history().IsWhole());
    EXPECT_EQ(replica.Info("replica_data"), state);
    EXPECT_EQ(replica.Info("slave_priority"), "0");
    EXPECT_EQ(replica.Info("master_link_status"), "down");
    EXPECT_THAT(AskForRole(replica), ErrorStartsWith("ERR PSYNC FAILOVER can't be sent to a replica without valid"));
    EXPECT_EQ(replica.Info("role"), "slave");
  }
  static void ExpectFit(ReplicationMember& replica) {
    EXPECT_TRUE(replica.history().IsWhole());
    EXPECT_EQ(replica.Info("replica_data"), "");
    EXPECT_EQ(replica.Info("slave_priority"), "100");
  }
};

// --- The head of a snapshot.

TEST_F(DataStateTest, AHeadThatCannotBeReadChangesNothingInAnyMode) {
  const std::string rest(3000, 'x');
  const std::vector<std::pair<std::string, std::string>> heads = {
      {"REDIS0013", "Can't handle RDB format version 13: this server reads versions 1 to 12"},
      {"VALKEY080", "The snapshot of the master begins with \"VALKEY080\""},
      {"REDIS00x1", "Can't handle RDB format version 0"},
      {"nonsense!", "The snapshot of the master begins with \"nonsense!\""},
      {std::string("\r\n\0REDIS0", 9), "The snapshot of the master begins with"}};
  for (const std::string& mode : kLoadModes) {
    for (const auto& [head, reason] : heads) {
      for (const bool is_stream : {false, true}) {
        Pair pair({"repl-diskless-load " + mode, "appendonly yes"});
        pair.replica.Run("SET old 1");
        pair.Follow();
        pair.Link(Rdb({"SET kept 1"}));
        const std::string id = pair.replica.history().id;
        pair.BreakLink();
        pair.Greet();
        const std::string length = is_stream ? "EOF:" + kEofMark : std::to_string(head.size() + rest.size());
        pair.Say("+FULLRESYNC " + kStrangeId + " 500\r\n$" + length + "\r\n");
        // The beginning may come in pieces.
        pair.Say(head.substr(0, 4));
        EXPECT_TRUE(pair.replica.history().IsWhole());
        pair.Say(head.substr(4) + rest);
        EXPECT_FALSE(pair.replica.IsLinked());
        EXPECT_THAT(pair.replica.Run("KEYS *"), ArrayOf(Bulk("kept"))) << mode << head;
        EXPECT_EQ(pair.replica.history().id, id) << mode << head;
        EXPECT_EQ(pair.replica.history().offset, 100);
        EXPECT_TRUE(pair.replica->services().storage.aof.IsOn());
        ExpectFit(pair.replica);
        EXPECT_THAT(pair.replica.Info("master_sync_last_error"), HasSubstr(reason)) << mode;
        EXPECT_THAT(pair.replica.Log(), HasSubstr(reason));
        EXPECT_THAT(pair.replica.Log(), HasSubstr("the old data stays"));
      }
    }
  }
}

TEST_F(DataStateTest, ASnapshotThatEndsBeforeItsHeadChangesNothing) {
  for (const std::string& mode : kLoadModes) {
    Pair pair({"repl-diskless-load " + mode});
    pair.Follow();
    pair.Link(Rdb({"SET kept 1"}));
    for (const std::string& snapshot : {std::string(), std::string("RED")}) {
      pair.BreakLink();
      pair.replica.Run("REPLICAOF 127.0.0.1 9000");  // also while the next attempt is delayed
      pair.Greet();
      pair.SendSnapshot(snapshot);
      EXPECT_THAT(pair.replica.Run("KEYS *"), ArrayOf(Bulk("kept"))) << mode;
      ExpectFit(pair.replica);
      EXPECT_EQ(pair.replica.Info("master_sync_last_error"), "The snapshot of the master ends before its head");
    }
  }
}

// --- A snapshot that began and failed.

struct Interruption {
  const char* name;
  std::function<void(std::string& rdb)> damage;  // damages the snapshot
  bool is_broken;                                // the link ends in the middle of the snapshot
};

const std::vector<Interruption>& Interruptions() {
  static const std::vector<Interruption> all = {
      {"broken", [](std::string& rdb) { rdb.resize(rdb.size() / 2); }, true},
      {"broken right after the head", [](std::string& rdb) { rdb.resize(12); }, true},
      {"wrong checksum", [](std::string& rdb) { rdb.back() = static_cast<char>(rdb.back() ^ 1); }, false},
      {"torn", [](std::string& rdb) { rdb.replace(rdb.size() / 2, 40, std::string(40, '\xfe')); }, false},
      // A stream type of Redis 8.6 replaces the first key's type.
      {"type that is unknown", [](std::string& rdb) { rdb[rdb.find("\x04key") - 1] = 26; }, false},
  };
  return all;
}

// Whether the old data is dropped before the snapshot has come, or only when the snapshot is complete.
bool DropsEarly(const std::string& mode) { return mode == "flush-before-load"; }

TEST_F(DataStateTest, AReplicaWithoutItsDataIsUnfitInEachModeAtEachInterruption) {
  const std::string whole = LongRdb();
  for (const std::string& mode : kLoadModes) {
    for (const Interruption& interruption : Interruptions()) {
      SCOPED_TRACE(mode + ", " + interruption.name);
      Pair pair({"repl-diskless-load " + mode});
      pair.Follow();
      pair.Link(Rdb({"SET kept 1"}));
      pair.BreakLink();
      pair.Greet();
      std::string damaged = whole;
      interruption.damage(damaged);
      pair.Say("+FULLRESYNC " + kStrangeId + " 500\r\n$" + std::to_string(whole.size()) + "\r\n" + damaged);
      pair.world.network().Step(300);
      const bool drops = DropsEarly(mode) || (!interruption.is_broken && mode != "swapdb");
      if (drops && interruption.is_broken) {
        EXPECT_EQ(pair.replica.Info("replica_data"), "none") << "while it loads";
        EXPECT_EQ(pair.replica.Info("slave_priority"), "0");
      }
      if (interruption.is_broken) pair.BreakLink();
      EXPECT_FALSE(pair.replica.IsLinked());
      EXPECT_NE(pair.replica.Info("master_sync_last_error"), "");
      if (!drops) {
        EXPECT_THAT(pair.replica.Run("KEYS *"), ArrayOf(Bulk("kept")));
        ExpectFit(pair.replica);
        continue;
      }
      EXPECT_THAT(pair.replica.Run("DBSIZE"), Int(0));
      ExpectUnfit(pair.replica, "none");
      // After a snapshot has been loaded, the data is good again.
      if (pair.stranger.received.empty()) pair.Follow();
      pair.Greet();
      pair.SendSnapshot(whole, 700);
      EXPECT_TRUE(pair.replica.IsLinked());
      EXPECT_THAT(pair.replica.Run("DBSIZE"), Int(200));
      ExpectFit(pair.replica);
      EXPECT_EQ(pair.replica.Info("master_sync_last_error"), "");
    }
  }
}

// The earlier files are worth more than an empty data set.
TEST_F(DataStateTest, AnEmptiedReplicaDoesNotOverwriteItsFiles) {
  for (const std::string& file : {std::string("appendonly yes"), std::string("save 1 1")}) {
    for (const bool is_killed : {false, true}) {
      SCOPED_TRACE(file + (is_killed ? ", killed" : ", stopped"));
      Pair pair({"repl-diskless-load flush-before-load", file});
      pair.Follow();
      pair.Link(Rdb({"SET kept 1"}));
      pair.Say(EncodeRequest({"SET", "kept", "2"}));
      pair.world.network().Step(3000);  // reaches the save point
      pair.LoseData();
      ExpectUnfit(pair.replica, "none");
      pair.world.network().Step(5000);
      if (!is_killed) pair.replica.Run("SHUTDOWN");
      pair.replica.Stop();
      pair.replica.Start();
      EXPECT_THAT(pair.replica.Run("GET kept"), Bulk("2"));
    }
  }
}

// The directive is for any data, so a signal is no order to save this data. SHUTDOWN SAVE is one.
TEST_F(DataStateTest, ASignalThatSavesKeepsTheFileOfAnEmptiedReplica) {
  Pair pair({"repl-diskless-load flush-before-load", "shutdown-on-sigterm save"});
  pair.Follow();
  pair.Link(Rdb({"SET kept 1"}));
  EXPECT_THAT(pair.replica.Run("SAVE"), Ok());
  pair.LoseData();
  ExpectUnfit(pair.replica, "none");
  pair.replica->services().storage.shutdown.Signalled(SIGTERM);
  EXPECT_EQ(pair.replica.server().StoppedWith(), 0);
  EXPECT_THAT(pair.replica.Log(), HasSubstr("Nothing is saved: this replica has not loaded its master's data"));
  EXPECT_THAT(pair.replica.files().Content("dump.rdb"), HasSubstr("kept"));
}

TEST_F(DataStateTest, DebugReloadKeepsTheFileOfAnEmptiedReplica) {
  Pair pair({"repl-diskless-load flush-before-load"});
  pair.Follow();
  pair.Link(Rdb({"SET kept 1"}));
  EXPECT_THAT(pair.replica.Run("SAVE"), Ok());
  pair.LoseData();
  ExpectUnfit(pair.replica, "none");
  for (const char* line : {"DEBUG RELOAD", "DEBUG RELOAD NOFLUSH MERGE"}) {
    EXPECT_THAT(pair.replica.Run(line), ErrorStartsWith("ERR This replica has not loaded its master's data")) << line;
  }
  EXPECT_THAT(pair.replica.files().Content("dump.rdb"), HasSubstr("kept"));
  EXPECT_THAT(pair.replica.Run("DEBUG RELOAD NOSAVE"), Ok());
  EXPECT_THAT(pair.replica.Run("GET kept"), Bulk("1"));
}

// Clients of a writable replica may write after it lost the primary's data, and a BGSAVE from before may still be
// scheduled.
TEST_F(DataStateTest, WhatIsWrittenAfterTheLossDoesNotReplaceTheFile) {
  Pair pair({"repl-diskless-load flush-before-load", "save 1 1", "replica-read-only no", "appendonly yes"});
  pair.Follow();
  pair.Link(Rdb({"SET kept 1"}));
  EXPECT_THAT(pair.replica.Run("SAVE"), Ok());
  const auto saved = [&] { return pair.replica.server().files().Content("dump.rdb"); };
  // The append-only file is being rewritten after the synchronization.
  EXPECT_THAT(pair.replica.Run("BGSAVE SCHEDULE"), Simple("Background saving scheduled"));
  pair.LoseData();
  ExpectUnfit(pair.replica, "none");
  EXPECT_THAT(pair.replica.Run("SET own 1"), Ok());
  EXPECT_THAT(pair.replica.Run("FLUSHALL"), Ok());
  EXPECT_THAT(pair.replica.Run("SET own 2"), Ok());
  pair.world.network().Step(5000);
  EXPECT_THAT(saved(), HasSubstr("kept"));
  EXPECT_THAT(pair.replica.Run("BGSAVE CANCEL"), ErrorStartsWith("ERR Background saving is currently not"));
  pair.replica.Run("SHUTDOWN");
  EXPECT_THAT(saved(), HasSubstr("kept"));
}

// The append-only file is off, but the file on the disk is good.
TEST_F(DataStateTest, ARewriteThatWasScheduledBeforeTheLossDoesNotReplaceTheFile) {
  Pair pair({"repl-diskless-load flush-before-load", "save \"\"", "appendonly yes"});
  pair.Follow();
  pair.Link(Rdb({"SET kept 1"}));
  pair.world.network().Step(3000);
  EXPECT_THAT(pair.replica.Run("CONFIG SET appendonly no"), Ok());
  EXPECT_THAT(pair.replica.Run("BGSAVE"), Simple("Background saving started"));
  EXPECT_THAT(pair.replica.Run("BGREWRITEAOF"), Simple("Background append only file rewriting scheduled"));
  pair.LoseData();
  pair.world.network().Step(5000);
  ExpectUnfit(pair.replica, "none");
  pair.replica.Stop();
  pair.replica.Start();
  EXPECT_THAT(pair.replica.Run("GET kept"), Bulk("1"));
}

// Other clients are served during a slow script of the stream, and then the link may end.
TEST_F(DataStateTest, AScriptDuringWhichTheLinkEndsRunsOnce) {
  Pair pair({"busy-reply-threshold 1000"});
  pair.Follow();
  pair.Link(Rdb({"SET n 0"}));
  bool has_ended = false;
  pair.replica.server().Besides([&] {
    if (!std::exchange(has_ended, true)) pair.world.network().HangUpAs(kStrangePort);
    pair.replica.server().clock().PassWithEachLook(0);
  });
  const std::string script = EncodeRequest({"EVAL", "redis.call('INCR', 'n') for i = 1, 50000000 do end", "0"});
  pair.replica.server().clock().PassWithEachLook(2000);
  pair.Say(script);
  pair.replica.server().clock().PassWithEachLook(0);
  EXPECT_TRUE(has_ended);
  EXPECT_FALSE(pair.replica.IsLinked());
  EXPECT_EQ(pair.replica.history().offset, 100 + static_cast<int64_t>(script.size()));
  EXPECT_THAT(pair.replica.Run("GET n"), Bulk("1"));
}

TEST_F(DataStateTest, AReplicaThatStartsWithNothingIsUnfitUntilItIsLinked) {
  Pair pair({"appendonly yes"});
  pair.Follow();
  pair.world.network().Step(100);
  EXPECT_EQ(pair.replica.Info("replica_data"), "none");
  pair.replica.Stop();
  pair.stranger.received.clear();
  pair.replica.Start({"replicaof 127.0.0.1 9000"});
  EXPECT_EQ(pair.replica.Info("replica_data"), "none");
  EXPECT_EQ(pair.replica.Info("slave_priority"), "0");
  pair.Link(Rdb({}));
  ExpectFit(pair.replica);
}

TEST_F(DataStateTest, AnOperatorMayPromoteAnEmptiedReplica) {
  Pair pair({"repl-diskless-load flush-before-load", "appendonly yes"});
  pair.Follow();
  pair.Link(Rdb({"SET kept 1"}));
  pair.LoseData();
  EXPECT_FALSE(pair.replica->services().storage.aof.IsOn());
  EXPECT_THAT(pair.replica.Run("REPLICAOF NO ONE"), Ok());
  EXPECT_THAT(pair.replica.Log(), HasSubstr("becomes a master without the data of its former master"));
  EXPECT_TRUE(pair.replica->services().storage.aof.IsOn());
  EXPECT_THAT(pair.replica.Run("SET new 1"), Ok());
  EXPECT_TRUE(pair.replica.history().IsWhole());
}

// The Sentinel may have chosen the replica by an old INFO.
TEST_F(DataStateTest, ASentinelMayNotPromoteAnEmptiedReplica) {
  Pair pair({"repl-diskless-load flush-before-load"});
  pair.Follow();
  pair.Link(Rdb({"SET kept 1"}));
  pair.LoseData();
  TestClient sentinel(pair.replica.server());
  sentinel.Run("CLIENT SETNAME sentinel-0123abcd-cmd");
  sentinel.Run("MULTI");
  sentinel.Run("SLAVEOF NO ONE");
  EXPECT_THAT(sentinel.Run("EXEC"), ArrayOf(ErrorStartsWith("ERR This replica doesn't have the whole data")));
  EXPECT_EQ(pair.replica.Info("role"), "slave");
}

// --- Earlier data of a server that follows another one.

// The keys of one primary are no copy of another primary's keys, however complete they are.
TEST_F(DataStateTest, TheDataOfBeforeIsNoneOfAStrangersUntilItIsLinked) {
  const std::vector<std::vector<std::string>> pasts = {
      {"SET own 1"},              // it was a primary
      {"SET own 1", "FLUSHALL"},  // and has replicas, so the empty data set has a history
      {"REPLICAOF 127.0.0.1 1"},  // it has never been linked to the primary that it followed
  };
  for (const std::vector<std::string>& past : pasts) {
    SCOPED_TRACE(past.back());
    Pair pair({});
    pair.replica.Run("SET first 1");
    pair.AddReplica();
    for (const std::string& line : past) pair.replica.Run(line);
    const std::string id = pair.replica.history().id;
    pair.Follow();
    ExpectUnfit(pair.replica, "other");
    // The replica still offers this history in PSYNC.
    pair.Greet();
    EXPECT_EQ(pair.replica.history().id, id);
    pair.SendSnapshot("RED");
    ExpectUnfit(pair.replica, "other");
    pair.replica.Run("REPLICAOF 127.0.0.1 9000");
    pair.Link(Rdb({"SET a 1"}));
    ExpectFit(pair.replica);
  }
}

TEST_F(DataStateTest, AStrangerThatContinuesTheHistoryMakesTheDataItsOwn) {
  Pair pair({});
  pair.replica.Run("SET own 1");
  pair.AddReplica();
  pair.Follow();
  ExpectUnfit(pair.replica, "other");
  pair.Greet();
  pair.Say("+CONTINUE " + kStrangeId + "\r\n");
  EXPECT_TRUE(pair.replica.IsLinked());
  EXPECT_THAT(pair.replica.Run("GET own"), Bulk("1"));
  ExpectFit(pair.replica);
}

// After the master of a group has failed, its replicas belong to the promoted one. The master that returns may have
// different data. A replica with a link may belong to another group, from which the Sentinel takes it back.
TEST_F(DataStateTest, ASentinelLeadsReplicasWithoutALinkToASiblingAndOthersToAStranger) {
  enum class Past { kMaster, kLinked, kMasterFailed };
  for (const Past past : {Past::kMaster, Past::kLinked, Past::kMasterFailed}) {
    Pair pair({});
    pair.replica.Run("SET own 1");
    if (past != Past::kMaster) {
      pair.Follow();
      pair.Link(Rdb({"SET kept 1"}));
    }
    if (past == Past::kMasterFailed) pair.BreakLink();
    TestClient sentinel(pair.replica.server());
    sentinel.Run("CLIENT SETNAME sentinel-0123abcd-cmd");
    EXPECT_THAT(sentinel.Run("SLAVEOF 127.0.0.1 1"), Ok());
    EXPECT_EQ(pair.replica.Info("slave_priority"), past == Past::kMasterFailed ? "100" : "0");
    // REPLICAOF NO ONE by an operator makes the data the server's own.
    EXPECT_THAT(pair.replica.Run("REPLICAOF NO ONE"), Ok());
    EXPECT_TRUE(pair.replica.history().IsWhole());
    EXPECT_THAT(pair.replica.Run("DBSIZE"), Int(1));
  }
}

// --- Attempts after snapshots that are of no use.

TEST_F(DataStateTest, ThePauseAfterSnapshotsOfNoUseGrowsAndAnOperatorEndsIt) {
  Pair pair({});
  pair.replica.Run("SET old 1");
  pair.Follow();
  std::vector<int64_t> attempts;
  const int64_t began_ms = pair.world.network().NowMs();
  while (attempts.size() < 8) {
    pair.Greet();
    attempts.push_back((pair.world.network().NowMs() - began_ms + 500) / 1000);
    pair.SendSnapshot("REDIS0013 and so on");
  }
  const std::vector<int64_t> pauses = {2, 4, 8, 16, 32, 60, 60};
  for (size_t i = 0; i < pauses.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(attempts[i + 1] - attempts[i]), static_cast<double>(pauses[i]), 1.1) << i;
  }
  EXPECT_EQ(pair.replica.Info("master_sync_retry_in_seconds"), "60");
  EXPECT_THAT(pair.replica.Run("REPLICAOF 127.0.0.1 9000"), Ok());
  EXPECT_EQ(pair.replica.Info("master_sync_retry_in_seconds"), "");
  const int64_t asked_ms = pair.world.network().NowMs();
  pair.Greet();
  EXPECT_LE(pair.world.network().NowMs() - asked_ms, 1000);
  pair.SendSnapshot("REDIS0013 and so on");
  EXPECT_EQ(pair.replica.Info("master_sync_retry_in_seconds"), "2");
  // A link that only breaks is restored each second.
  pair.Greet();
  pair.Link(Rdb({"SET a 1"}));
}

// Each snapshot can be loaded, but the stream after it contains the same error again. Only a link that stays up for a
// minute shows that the error is gone.
TEST_F(DataStateTest, ThePauseAfterProtocolErrorsGrowsAlthoughEachSnapshotLoads) {
  Pair pair({});
  pair.Follow();
  const auto fail = [&] {
    pair.Say("*1\r\n$-5\r\n");
    EXPECT_FALSE(pair.replica.IsLinked());
    return pair.replica.Info("master_sync_retry_in_seconds");
  };
  const auto stay_linked_for = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      pair.Say(EncodeRequest({"PING"}));
      pair.world.network().Step(1000);
    }
    ASSERT_TRUE(pair.replica.IsLinked());
  };
  for (const char* pause : {"2", "4", "8", "16"}) {
    pair.Link(Rdb({"SET kept 1"}));
    EXPECT_EQ(fail(), pause);
  }
  pair.Link(Rdb({"SET kept 1"}));
  stay_linked_for(50);
  EXPECT_EQ(fail(), "32");
  pair.Link(Rdb({"SET kept 1"}));
  stay_linked_for(62);
  EXPECT_EQ(fail(), "2");
}

// --- A command of the primary that fails.

TEST_F(DataStateTest, ACommandThatFailsEndsTheLinkBeforeIt) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands = {
      {{"MSETEX", "2", "k1", "v1", "k2", "v2", "EX", "1000"}, "MSETEX"},
      {{"GEOSEARCHSTORE", "d", "s", "BYPOLYGON", "3", "0", "0", "1", "1", "2", "0"}, "geosearchstore"},
      {{"SET", "k1"}, "set"},
      {{"LPUSH", "text", "x"}, "lpush"},
      {{"CLUSTER", "NOSUCH"}, "CLUSTER"},
      {{"FUNCTION", "LOAD", "nonsense"}, "function|load"},
      {{"no\r\nsuch\x01", "secret"}, "no??such?"}};
  for (const auto& [words, name] : commands) {
    SCOPED_TRACE(name);
    Pair pair({});
    pair.Follow();
    pair.Link(Rdb({"SET text 1"}));
    const std::string before = EncodeRequest({"SET", "before", "1"});
    std::vector<Bytes> request(words.begin(), words.end());
    std::string text;
    AppendRequest(text, request);
    // The transaction comes in one piece, with writes before and after it.
    pair.Say(before + text + EncodeRequest({"SET", "after", "1"}));
    EXPECT_FALSE(pair.replica.IsLinked());
    EXPECT_EQ(pair.replica.history().offset, 100 + static_cast<int64_t>(before.size()));
    EXPECT_THAT(pair.replica.Run("GET before"), Bulk("1"));
    EXPECT_THAT(pair.replica.Run("EXISTS after"), Int(0));
    EXPECT_EQ(pair.replica.Info("master_failed_command"), name);
    EXPECT_THAT(pair.replica.Info("master_sync_last_error"), HasSubstr("'" + name + "' of the master failed here: "));
    EXPECT_THAT(pair.replica.Info("master_sync_last_error"), Not(HasSubstr("secret")));
    ExpectUnfit(pair.replica, "diverged");
    EXPECT_THAT(pair.replica.Run("ROLE"), ArrayOf(Bulk("slave"), AnyReply(), AnyReply(), Bulk("none"), Int(-1)));
    // The replica acknowledges nothing more, and does not reconnect.
    pair.world.network().Step(5000);
    EXPECT_THAT(pair.stranger.received, Not(HasSubstr("ACK\r\n$" + std::to_string(request.size()))));
    EXPECT_EQ(pair.stranger.connections, 1);
    // When an operator requests it, the replica reconnects and gets a whole snapshot.
    EXPECT_THAT(pair.replica.Run("REPLICAOF 127.0.0.1 9000"), Ok());
    pair.stranger.received.clear();
    pair.world.network().Run();
    pair.Say("+PONG\r\n+OK\r\n+OK\r\n+OK\r\n");
    EXPECT_THAT(pair.stranger.received, HasSubstr(EncodeRequest({"PSYNC", "?", "-1"})));
    if (name == "lpush") {  // a primary that continues nevertheless is not trusted
      pair.Say("+CONTINUE\r\n");
      EXPECT_FALSE(pair.replica.IsLinked());
      ExpectUnfit(pair.replica, "diverged");
      pair.stranger.received.clear();
      pair.Greet();
    }
    pair.SendSnapshot(Rdb({"SET text 2"}));
    EXPECT_TRUE(pair.replica.IsLinked());
    ExpectFit(pair.replica);
    EXPECT_EQ(pair.replica.Info("master_failed_command"), "");
  }
}

TEST_F(DataStateTest, AFailureInATransactionLeavesAllOfItUnacknowledged) {
  for (const std::vector<Bytes>& failing : {std::vector<Bytes>{"NOSUCH"}, std::vector<Bytes>{"LPUSH", "text", "x"}}) {
    Pair pair({"save 1 1"});
    pair.Follow();
    pair.Link(Rdb({"SET text 1"}));
    std::string text = EncodeRequest({"MULTI"}) + EncodeRequest({"INCR", "n"});
    AppendRequest(text, failing);
    pair.Say(text + EncodeRequest({"INCR", "n"}) + EncodeRequest({"EXEC"}) + EncodeRequest({"SET", "after", "1"}));
    ExpectUnfit(pair.replica, "diverged");
    EXPECT_EQ(pair.replica.history().offset, 100);
    EXPECT_THAT(pair.replica.Run("EXISTS after"), Int(0));
    // Only part of the transaction may have been applied, so a file names no history from which a restart could
    // continue.
    pair.replica.Run("SAVE");
    EXPECT_THAT(pair.replica.files().Content("dump.rdb"), Not(HasSubstr("repl-id")));
  }
}

TEST_F(DataStateTest, WhatBelongsToTheLinkMayFail) {
  Pair pair({});
  pair.Follow();
  pair.Link(Rdb({}));
  pair.Say(EncodeRequest({"REPLCONF", "of-a-later-version", "1"}) + EncodeRequest({"PING", "a", "b", "c"}));
  EXPECT_TRUE(pair.replica.IsLinked());
  ExpectFit(pair.replica);
}

TEST_F(DataStateTest, ADirectiveKeepsTheLinkThoughACommandFails) {
  Pair pair({"replica-ignore-command-errors yes"});
  pair.Follow();
  pair.Link(Rdb({"SET text 1"}));
  const std::string failing = EncodeRequest({"LPUSH", "text", "x"});
  const std::string after = EncodeRequest({"SET", "after", "1"});
  pair.Say(failing + after);
  EXPECT_TRUE(pair.replica.IsLinked());
  EXPECT_EQ(pair.replica.history().offset, 100 + static_cast<int64_t>(failing.size() + after.size()));
  EXPECT_THAT(pair.replica.Run("GET after"), Bulk("1"));
  EXPECT_THAT(pair.replica.Log(), HasSubstr("== CRITICAL =="));
  ExpectFit(pair.replica);
}

TEST_F(DataStateTest, ReplicasOfAReplicaSeeThatItsLinkHasEnded) {
  Pair pair({});
  pair.Follow();
  pair.Link(Rdb({"SET text 1"}));
  ReplicationMember& last = pair.world.Add();
  last.Follow(pair.replica);
  pair.world.network().Step(3000);
  ASSERT_TRUE(last.IsLinked());
  pair.Say(EncodeRequest({"NOSUCH"}));
  pair.world.network().Step(3000);
  EXPECT_FALSE(last.IsLinked());
  EXPECT_THAT(last.Info("master_sync_last_error"), HasSubstr("-NOMASTERLINK"));
  EXPECT_EQ(last.history().offset, pair.replica.history().offset);
  EXPECT_THAT(last.Run("GET text"), Bulk("1"));
}

// The replica has applied the commands before the failed one and counts them in its offset, so its replicas need them.
TEST_F(DataStateTest, ReplicasOfAReplicaGetTheCommandsBeforeTheOneThatFails) {
  Pair pair({});
  pair.Follow();
  pair.Link(Rdb({"SET text 1"}));
  ReplicationMember& last = pair.world.Add();
  last.Follow(pair.replica);
  pair.world.network().Step(3000);
  ASSERT_TRUE(last.IsLinked());
  pair.Say(EncodeRequest({"SET", "before", "1"}) + EncodeRequest({"NOSUCH"}) + EncodeRequest({"SET", "after", "1"}));
  EXPECT_EQ(pair.replica.Info("master_failed_command"), "NOSUCH");
  EXPECT_EQ(pair.replica.Info("connected_slaves"), "0");
  EXPECT_FALSE(last.IsLinked());
  EXPECT_EQ(last.history().offset, pair.replica.history().offset);
  EXPECT_THAT(last.Run("MGET before after"), ArrayOf(Bulk("1"), Nil()));
}

TEST_F(DataStateTest, AFailedReplicaThatIsPromotedHasAHistoryOfItsOwn) {
  Pair pair({});
  pair.Follow();
  pair.Link(Rdb({"SET text 1"}));
  pair.Say(EncodeRequest({"NOSUCH"}));
  EXPECT_THAT(pair.replica.Run("REPLICAOF NO ONE"), Ok());
  EXPECT_THAT(pair.replica.Log(), HasSubstr("at least one write of its former master failed here"));
  EXPECT_NE(pair.replica.history().id, kStrangeId);
  EXPECT_NE(pair.replica.history().former_id, kStrangeId);
}

// WAIT does not count the replica, FAILOVER does not choose it, and min-replicas-to-write sees that it is missing.
TEST_F(DataStateTest, APrimaryDoesNotCountAReplicaThatCouldNotRunAWrite) {
  ReplicationWorld world(7);
  ReplicationMember& primary = world.Add();
  ReplicationMember& replica = world.Add({"replica-read-only no"});
  replica.Follow(primary);
  world.network().Step(3000);
  ASSERT_TRUE(replica.IsLinked());
  replica.Run("LPUSH l of-the-replica");
  replica.Run("CONFIG SET replica-read-only yes");
  TestClient client(primary.server());
  client.Run("APPEND l text");
  client.Send("WAIT 1 500");
  world.network().Step(1000);
  EXPECT_THAT(client.Read(), Int(0));
  EXPECT_EQ(replica.Info("master_failed_command"), "append");
  EXPECT_EQ(primary.Info("connected_slaves"), "0");
  EXPECT_THAT(primary.Run("FAILOVER"), Error("ERR FAILOVER requires connected replicas."));
}

// The replica's own clients may have made the difference, as in the Tcl suite of Redis. An error that does not depend
// on the data is not such a difference.
TEST_F(DataStateTest, AWritableReplicaKeepsTheLinkUnlessTheErrorIsOfTheRequest) {
  for (const std::vector<std::string>& request : {std::vector<std::string>{"NOSUCH"},
                                                  {"SET", "k", "v", "NOSUCH"},
                                                  {"GET"},
                                                  {"SELECT", "99"},
                                                  {"HSET", "h", "f", "v", "g"},
                                                  {"MSET", "a", "1", "b"},
                                                  {"EXPIRE", "text", "100", "NEWOPT"},
                                                  {"SWAPDB", "0", "77"},
                                                  {"COPY", "text", "t2", "DB", "99"},
                                                  {"MOVE", "text", "99"},
                                                  {"RESTORE", "r", "0", "not a payload of any version"},
                                                  {"FUNCTION", "LOAD", "#!js name=x\n1"},
                                                  {"XADD", "s", "ACKED", "1-1", "f", "v"},
                                                  {"BITFIELD", "b", "OVERFLOW", "NEW", "SET", "u8", "0", "1"},
                                                  {"FUNCTION", "FLUSH", "NEWMODE"},
                                                  {"EXEC"}}) {
    Pair pair({"replica-read-only no"});
    pair.Follow();
    pair.Link(Rdb({"SET text 1"}));
    pair.replica.Run("LPUSH list own");
    pair.Say(EncodeRequest({"SELECT", "0"}) + EncodeRequest({"APPEND", "list", "x"}) +
             EncodeRequest({"SET", "text", "2"}));
    EXPECT_TRUE(pair.replica.IsLinked());
    EXPECT_EQ(pair.replica.Run("GET text").Text(), "2");
    EXPECT_TRUE(pair.replica.history().IsWhole());
    pair.Say(EncodeRequest(request));
    EXPECT_FALSE(pair.replica.IsLinked()) << request.front();
    EXPECT_FALSE(pair.replica.history().IsWhole()) << request.front();
  }
}

// XSETID, XADD and SORT meet what clients of the replica have written.
TEST_F(DataStateTest, AWritableReplicaKeepsTheLinkAfterErrorsOfItsStreamsAndLists) {
  struct Case {
    std::vector<std::string> own;
    std::vector<std::string> request;
    std::string error;
  };
  for (const Case& one : {Case{{"XADD", "s", "1-1", "f", "v"},
                               {"XSETID", "s", "5-0", "ENTRIESADDED", "0", "MAXDELETEDID", "0-0"},
                               "ERR The entries_added specified in XSETID is smaller than the target stream length"},
                          Case{{"XADD", "s", "18446744073709551615-18446744073709551615", "f", "v"},
                               {"XADD", "s", "5-0", "f", "v"},
                               "ERR The stream has exhausted the last possible ID, unable to add more items"},
                          Case{{"RPUSH", "s", "text"},
                               {"SORT", "s", "STORE", "sorted"},
                               "ERR One or more scores can't be converted into double"}}) {
    for (const bool is_writable : {true, false}) {
      SCOPED_TRACE(one.error);
      Pair pair({"replica-read-only no"});
      pair.Follow();
      pair.Link(Rdb({"SET text 1"}));
      pair.replica.client().Run(one.own);
      if (!is_writable) pair.replica.Run("CONFIG SET replica-read-only yes");
      pair.Say(EncodeRequest(one.request) + EncodeRequest({"SET", "after", "1"}));
      EXPECT_THAT(pair.replica.Log(), HasSubstr("error to its master: '" + one.error + "'"));
      EXPECT_EQ(pair.replica.IsLinked(), is_writable);
      EXPECT_EQ(pair.replica.history().IsWhole(), is_writable);
      EXPECT_THAT(pair.replica.Run("EXISTS after"), Int(is_writable ? 1 : 0));
    }
  }
}

// Such a replica evicts keys that its primary still has.
TEST_F(DataStateTest, AReplicaThatEvictsKeepsTheLinkUnlessTheErrorIsOfTheRequest) {
  for (const bool evicts : {true, false}) {
    Pair pair({"maxmemory-policy allkeys-random"});
    pair.Follow();
    pair.Link(Rdb({"SET text 1", "SET other 1"}));
    pair.replica.Run("CONFIG SET replica-ignore-maxmemory no");
    pair.replica.Run("CONFIG SET maxmemory 1");
    pair.world.network().Step(1000);
    ASSERT_THAT(pair.replica.Run("DBSIZE"), Int(0));
    pair.replica.Run("CONFIG SET maxmemory 0");
    if (!evicts) pair.replica.Run("CONFIG SET replica-ignore-maxmemory yes");
    pair.Say(EncodeRequest({"RENAME", "text", "renamed"}) + EncodeRequest({"SET", "after", "1"}));
    EXPECT_THAT(pair.replica.Log(), HasSubstr("error to its master: 'ERR no such key'"));
    EXPECT_EQ(pair.replica.IsLinked(), evicts);
    EXPECT_EQ(pair.replica.history().IsWhole(), evicts);
    EXPECT_THAT(pair.replica.Run("EXISTS after"), Int(evicts ? 1 : 0));
    if (!evicts) continue;
    pair.Say(EncodeRequest({"NOSUCH"}));
    EXPECT_FALSE(pair.replica.IsLinked());
  }
}

// --- In a cluster.

class DataStateInClusterTest : public ClusterPairTest {
 protected:
  void Link() {
    EXPECT_THAT(target_.Run("CLUSTER REPLICATE " + Id(source_)), Ok());
    network().Step(4000);
    ASSERT_TRUE(target_.IsLinked());
  }
  // Sends a command that no version knows.
  void Diverge() {
    source_->services().replication.stream().AppendRequest({"NOSUCH"});
    network().Step(1500);
    ASSERT_EQ(target_.Info("replica_data"), "diverged");
  }
};

TEST_F(DataStateInClusterTest, AnOperatorHasTheLinkMadeAgainByClusterReplicate) {
  Link();
  Diverge();
  for (const char* line : {"CLUSTER FAILOVER", "CLUSTER FAILOVER FORCE"}) {
    EXPECT_THAT(target_.Run(line), ErrorStartsWith("ERR I don't have the whole data of my master")) << line;
  }
  EXPECT_THAT(target_.Run("CLUSTER NODES"), BulkThat(HasSubstr("myself,slave,nofailover ")));
  source_.Run("SET k 1");
  network().Step(5000);
  EXPECT_EQ(target_.Info("master_link_status"), "down");
  Link();
  EXPECT_TRUE(target_.history().IsWhole());
  EXPECT_THAT(target_.Run("CLUSTER NODES"), BulkThat(Not(HasSubstr("nofailover"))));
  ExpectSameData(source_, target_);
}

TEST_F(DataStateInClusterTest, ATakeoverIsDoneWithAWarning) {
  Link();
  Diverge();
  EXPECT_THAT(target_.Run("CLUSTER FAILOVER TAKEOVER"), Ok());
  network().Step(200);
  EXPECT_EQ(target_.Info("role"), "master");
  EXPECT_THAT(target_.Log(), HasSubstr("Taking over the slots of "));
  EXPECT_THAT(target_.Log(), HasSubstr("without all of its data"));
  EXPECT_TRUE(target_.history().IsWhole());
}

// The replica has the keys of its former primary: with these it must not take the slots of another primary, even at the
// same address.
TEST_F(DataStateInClusterTest, AReplicaThatChangesTheShardIsUnfitUntilItIsLinked) {
  Random random(7);
  source_.Run("SET k 1");
  enum class Other { kInShardOfOneThatFailed, kInShardOfOneThatServes, kInAnotherShard };
  for (const Other kind : {Other::kInShardOfOneThatFailed, Other::kInShardOfOneThatServes, Other::kInAnotherShard}) {
    SCOPED_TRACE(static_cast<int>(kind));
    Link();
    ClusterNode& other = View(target_).Add(NodeId::Draw(random), kNodePrimary);
    other.shard = kind == Other::kInAnotherShard ? other.id : View(target_).me().shard;
    const bool is_sibling = kind == Other::kInShardOfOneThatFailed;
    ClusterNode& old = *View(target_).me().primary;
    if (is_sibling) old.Set(kNodeFailed);
    other.address = {.ip = "127.0.0.1", .tcp_port = 1, .tls_port = 0, .bus_port = 10001};
    EXPECT_THAT(target_.Run("CLUSTER REPLICATE " + other.id.String()), Ok());
    EXPECT_EQ(target_.Info("replica_data"), is_sibling ? "" : "other");
    EXPECT_EQ(target_.Info("slave_priority"), is_sibling ? "100" : "0");
    old.Clear(kNodeFailed);
  }
  EXPECT_THAT(target_.Run("CLUSTER FAILOVER FORCE"), ErrorStartsWith("ERR I don't have the whole data of my master"));
  Link();
  EXPECT_TRUE(target_.history().IsWhole());
}

// A primary without slots that becomes a replica of another shard takes its replicas there, with their data.
TEST_F(DataStateInClusterTest, APrimaryThatLeavesForAnotherShardTakesItsReplicaAlongAsAStranger) {
  Link();
  Random random(7);
  const NodeId old_shard = View(target_).me().shard;
  ClusterNode& other = View(source_).Add(NodeId::Draw(random), kNodePrimary);
  other.address = {.ip = "127.0.0.1", .tcp_port = 1, .tls_port = 0, .bus_port = 10001};
  other.shard = other.id;
  other.is_shard_known = true;
  ClusterNode& same = View(target_).Add(other.id, kNodePrimary);
  same.address = other.address;
  same.shard = other.shard;
  same.is_shard_known = true;
  source_.Run("FLUSHALL");
  source_.Run("CLUSTER FLUSHSLOTS");
  EXPECT_THAT(source_.Run("CLUSTER REPLICATE " + other.id.String()), Ok());
  network().Step(3000);
  EXPECT_NE(View(target_).me().shard, old_shard);
  EXPECT_EQ(target_.Info("replica_data"), "other");
  EXPECT_EQ(target_.Info("slave_priority"), "0");
}

// Valkey 8 sends these commands to its replicas; here replicas follow the bus.
TEST_F(DataStateInClusterTest, SetSlotInTheStreamIsNoFailure) {
  Link();
  source_->services().replication.stream().AppendRequest({"CLUSTER", "SETSLOT", "1", "NODE", Id(source_)});
  network().Step(1500);
  EXPECT_TRUE(target_.IsLinked());
}

// CLUSTER RESET deletes the data of a replica, so another server must not continue the history here.
TEST_F(DataStateInClusterTest, AResetEndsTheHistory) {
  Link();
  source_.Run("SET bar 1");
  network().Step(1000);
  const std::string id = target_.history().id;
  EXPECT_THAT(target_.Run("CLUSTER RESET"), Ok());
  EXPECT_THAT(target_.Run("DBSIZE"), Int(0));
  EXPECT_FALSE(target_.history().Covers(id, 1));
}

}  // namespace
}  // namespace respite
