// The state of a replica's data (History::data) after a snapshot that could not be read or loaded. Such a replica must
// not replace its primary by itself.
#include <csignal>
#include <functional>
#include <utility>

#include "base/str_cat.h"
#include "server/storage/append_only_file.h"
#include "server/storage/shutdown.h"
#include "tests/server/replication/played_primary.h"

namespace respite {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kLoadModes = {"disabled", "on-empty-db", "swapdb", "flush-before-load"};

using DataStateTest = PlayedPrimaryTest;

// --- The head of a snapshot.

TEST_F(DataStateTest, AHeadThatCannotBeReadChangesNothingInAnyMode) {
  const std::string rest(3000, 'x');
  const std::vector<std::pair<std::string, std::string>> heads = {
      {"REDIS0015", "Can't handle RDB format version 15: this server reads versions 1 to 14"},
      {"VALKEY099", "Can't handle RDB format version 99"},
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
      pair.Say(StrCat("+FULLRESYNC ", kStrangeId, " 500\r\n$", whole.size(), "\r\n", damaged));
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

// WAITAOF of a primary counts the offset that a replica reports as synced. An offset of a dropped history says nothing.
TEST_F(DataStateTest, AReplicaForgetsWhichOffsetOfADroppedHistoryWasSynced) {
  Pair pair({"repl-diskless-load flush-before-load", "appendonly yes", "appendfsync always"});
  pair.Follow();
  pair.Greet();
  pair.SendSnapshot(Rdb({"SET kept 1"}), 1'000'000);
  pair.world.network().Step(3000);
  EXPECT_THAT(pair.stranger.received, HasSubstr("FACK\r\n$7\r\n1000000\r\n"));
  pair.replica.Run("CONFIG SET appendfsync no");
  pair.LoseData();
  pair.Greet();
  pair.SendSnapshot(Rdb({"SET kept 2"}), 700);
  pair.world.network().Step(3000);
  ASSERT_TRUE(pair.replica.IsLinked());
  EXPECT_THAT(pair.stranger.received, HasSubstr("FACK\r\n"));
  EXPECT_THAT(pair.stranger.received, Not(HasSubstr("1000000")));
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
  pair.replica->services().storage.shutdown.HandleSignal(SIGTERM);
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
  pair.replica.server().DuringLongTasks([&] {
    if (!std::exchange(has_ended, true)) pair.world.network().HangUpAs(kStrangePort);
    pair.replica.server().clock().AdvanceWithEachReading(0);
  });
  const std::string script = EncodeRequest({"EVAL", "redis.call('INCR', 'n') for i = 1, 50000000 do end", "0"});
  pair.replica.server().clock().AdvanceWithEachReading(2000);
  pair.Say(script);
  pair.replica.server().clock().AdvanceWithEachReading(0);
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
    EXPECT_EQ(pair.replica.Info("slave_priority"), past == Past::kMasterFailed ? "1000000000" : "0");
    // REPLICAOF NO ONE by an operator makes the data the server's own.
    EXPECT_THAT(pair.replica.Run("REPLICAOF NO ONE"), Ok());
    EXPECT_TRUE(pair.replica.history().IsWhole());
    EXPECT_THAT(pair.replica.Run("DBSIZE"), Int(1));
  }
}

// --- Data that the primary has not continued or sent yet.

void ExpectUnconfirmed(ReplicationMember& replica) {
  EXPECT_TRUE(replica.history().IsWhole());
  EXPECT_EQ(replica.Info("replica_data"), "unconfirmed");
  EXPECT_EQ(replica.Info("slave_priority"), "1000000000");
  EXPECT_LT(replica.history().OffsetInElections(), 0);
}

// The primary may have started again with older data. A replica that has heard nothing of it, and has less data, must
// not be preferred to this one.
TEST_F(DataStateTest, DataCountsWhileThePrimaryAnswersWithASnapshotOfAnotherHistory) {
  Pair pair({"repl-diskless-load swapdb"});
  pair.Follow();
  pair.Link(Rdb({"SET kept 1"}));
  for (const int offset : {500, 101, 100, 1}) {
    pair.BreakLink();
    pair.Greet();
    pair.Say("\n");  // the primary waits for more replicas before it begins a snapshot, perhaps of this history
    ExpectFit(pair.replica);
    pair.Say(StrCat("+FULLRESYNC ", kStrangeId, " ", offset, "\r\n$5000\r\n"));
    ExpectFit(pair.replica);
    EXPECT_EQ(pair.replica.history().OffsetInElections(), 100);
  }
}

// A dump that a replica of the same primary wrote is as good as before. Any other may have data that the primary lacks.
TEST_F(DataStateTest, DataOfAFileIsUnconfirmedUnlessAReplicaOfThePrimaryWroteIt) {
  for (const bool was_replica : {false, true}) {
    Pair pair({StrCat("replicaof 127.0.0.1 ", kStrangePort)});
    pair.Link(Rdb({"SET kept 1"}));
    if (!was_replica) pair.replica.Run("REPLICAOF NO ONE");
    pair.replica.Run("SAVE");
    pair.replica.Stop();
    pair.stranger.received.clear();
    pair.replica.Start();
    EXPECT_THAT(pair.replica.Run("GET kept"), Bulk("1"));
    was_replica ? ExpectFit(pair.replica) : ExpectUnconfirmed(pair.replica);
    pair.Greet();
    pair.Say("+CONTINUE\r\n");
    ExpectFit(pair.replica);
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
    pair.SendSnapshot("REDIS0015 and so on");
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
  pair.SendSnapshot("REDIS0015 and so on");
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

}  // namespace
}  // namespace respite
