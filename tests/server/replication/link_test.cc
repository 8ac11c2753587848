// The link between a primary and its replicas: the stream, breaks, timeouts and expired keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "server/replication/replication.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;

class LinkTest : public ReplicationTest {};

// Writes that cover every kind of propagated command.
const std::vector<std::string>& EffectLines() {
  static const std::vector<std::string> lines = {
      "SET a 1",
      "INCR a",
      "INCRBYFLOAT f 1.5",
      "APPEND s xyz",
      "SETRANGE s 10 z",
      "SETBIT bits 100 1",
      "SET gone 1 PX 100",
      "GETEX a EX 1000",
      "MSET m1 1 m2 2",
      "RPUSH l 1 2 3 4 5",
      "LPOP l 2",
      "LMOVE l l2 LEFT RIGHT",
      "SADD set 1 2 3 4 5 6 7 8",
      "SPOP set 3",
      "SPOP set",
      "SMOVE set set2 1",
      "ZADD z 1 a 2 b 3 c",
      "ZPOPMIN z",
      "ZUNIONSTORE z2 1 z",
      "HSET h a 1 b 2",
      "HINCRBYFLOAT h c 1.25",
      "XADD x * f v",
      "XADD x MAXLEN ~ 10 * f v",
      "XGROUP CREATE x g 0",
      "XREADGROUP GROUP g c COUNT 1 STREAMS x >",
      "XAUTOCLAIM x g d 0 0",
      "PFADD p 1 2 3",
      "PFMERGE p2 p",
      "GEOADD geo 1 1 here",
      "SELECT 5",
      "SET five 5",
      "MOVE five 6",
      "SELECT 0",
      "COPY a acopy",
      "RENAME acopy arenamed",
      "EXPIRE arenamed 100",
      "PERSIST arenamed",
      "MULTI",
      "SET t1 1",
      "SELECT 3",
      "SET t2 2",
      "EXEC",
      "SELECT 0",
      "EVAL \"redis.call('SET','script',redis.call('TIME')[1]) redis.call('INCR','a')\" 0",
      "FUNCTION LOAD \"#!lua name=lib\\nredis.register_function('w', function(k) redis.call('INCR', k[1]) end)\"",
      "FCALL w 1 counter",
      "SWAPDB 0 1",
      "PUBLISH channel message",
      "SPUBLISH channel message",
      "EXPIRE f 0",
      "SORT set STORE sorted",
      "DEL m1",
      "UNLINK m2",
      "RESTORE restored 0 \"\\x00\\xc0\\x01\\x0b\\x00\\x81\\x9b\\x0c\\x27\\x08\\xe9\\x97\\x2b\"",
      "FLUSHDB",
      "SET after 1",
      "FUNCTION DELETE lib",
  };
  return lines;
}

TEST_F(LinkTest, EveryKindOfEffectArrives) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  for (const std::string& line : EffectLines()) {
    primary.Run(line);
    network().Run();
    ASSERT_EQ(SnapshotDifference(SnapshotOf(*primary.server()), SnapshotOf(*replica.server())), "") << line;
    ASSERT_EQ(primary.history().offset, replica.history().offset) << line;
  }
  network().Step(2000);
  ExpectSameData(primary, replica);
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 0);
  EXPECT_THAT(replica.Log(), Not(HasSubstr("CRITICAL")));
}

TEST_F(LinkTest, EffectsArriveByteByByteAndAllAtOnce) {
  for (size_t piece : {size_t{1}, size_t{1'000'000}}) {
    ReplicationWorld world(piece);
    ReplicationMember& primary = world.Add();
    ReplicationMember& replica = world.Add();
    replica.Follow(primary);
    world.network().Step(2500);
    world.network().SetPiece(piece);
    for (const std::string& line : EffectLines()) primary.Run(line);
    primary.Run({"SET", "big", std::string(300'000, 'x')});
    world.network().Run();
    ExpectSameData(primary, replica);
  }
}

// Breaks the stream of a session at every byte, and compares with a replica that received all of it.
TEST_F(LinkTest, ABreakAtEveryByteLosesNothingAndRepeatsNothing) {
  const std::vector<std::string> lines = {
      "INCR n", "MULTI",    "INCR n", "RPUSH l x",
      "EXEC",   "SELECT 4", "INCR m", "MULTI",
      "INCR m", "SELECT 2", "INCR k", "EXEC",
      "INCR k", "SELECT 0", "INCR n", "EVAL \"redis.call('INCR','n') redis.call('INCR','o')\" 0"};
  ReplicationWorld world(5);
  ReplicationMember& primary = world.Add();
  ReplicationMember& replica = world.Add();
  replica.Follow(primary);
  world.network().Step(2500);
  const int64_t before = primary.history().offset;
  for (const std::string& line : lines) primary.Run(line);
  const auto bytes = static_cast<uint64_t>(primary.history().offset - before);
  world.network().Run();
  for (uint64_t cut = 0; cut <= bytes; ++cut) {
    // The whole stream comes in one piece, and the break one byte too late.
    world.network().Break(replica.port(), primary.port());
    world.network().SetPiece(1'000'000);
    world.network().Refuse(primary.port());
    world.network().Run();
    for (const std::string& line : lines) primary.Run(line);
    world.network().Accept(primary.port());
    const std::string answers = "+PONG\r\n+OK\r\n+OK\r\n+OK\r\n+CONTINUE " + primary.history().id + "\r\n";
    world.network().BreakNextAfter(primary.port(), answers.size() + cut);
    world.network().Step(3000);
    ASSERT_TRUE(replica.IsLinked()) << cut;
    ASSERT_EQ(SnapshotDifference(SnapshotOf(*primary.server()), SnapshotOf(*replica.server())), "") << "cut at " << cut;
    ASSERT_EQ(replica.history().offset, primary.history().offset) << cut;
  }
  EXPECT_EQ(primary.Run("INFO stats").Text().find("sync_full:1\r\n") == std::string::npos, false);
}

TEST_F(LinkTest, AChainHasOneStream) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& middle = AddLinked(primary);
  ReplicationMember& last = AddLinked(middle);
  for (const std::string& line : EffectLines()) primary.Run(line);
  network().Step(12'000);
  ExpectSameData(primary, middle);
  ExpectSameData(primary, last);
  EXPECT_EQ(middle.history().id, primary.history().id);
  EXPECT_EQ(last.history().id, primary.history().id);
  EXPECT_EQ(middle.history().offset, primary.history().offset);
  EXPECT_EQ(last.history().offset, primary.history().offset);
  const auto stream = [](ReplicationMember& member) {
    std::string text;
    const Backlog& backlog = member->services().replication.stream().backlog();
    backlog.VisitFrom(backlog.Begin(), backlog.End(), [&](const BlobPart& part) { text += part.View(); });
    return text;
  };
  const std::string whole = stream(primary);
  EXPECT_TRUE(whole.ends_with(stream(middle)));
  EXPECT_TRUE(whole.ends_with(stream(last)));
  EXPECT_GT(stream(last).size(), 1000u);
}

TEST_F(LinkTest, ASnapshotOfAReplicaSaysWhatTheStreamHasSelected) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& middle = AddLinked(primary);
  primary.Run("SELECT 6");
  primary.Run("SET a 1");
  network().Run();
  ReplicationMember& last = AddLinked(middle);
  primary.Run("SET b 1");
  network().Run();
  ExpectSameData(primary, last);
}

TEST_F(LinkTest, AMiddleOneThatBreaksAwayFromInsideATransactionKeepsItsReplicasRight) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& middle = AddLinked(primary);
  ReplicationMember& last = AddLinked(middle);
  // One piece with a whole request and the beginning of a transaction.
  network().Break(middle.port(), primary.port());
  network().SetPiece(1'000'000);
  network().Refuse(primary.port());
  network().Run();
  primary.Run("INCR n");
  primary.Run("MULTI");
  primary.Run("INCR n");
  primary.Run("SET later 1");
  primary.Run("EXEC");
  network().Accept(primary.port());
  const std::string answers = "+PONG\r\n+OK\r\n+OK\r\n+OK\r\n+CONTINUE " + primary.history().id + "\r\n";
  const size_t begun = EncodeRequest({"SELECT", "0"}).size() + EncodeRequest({"INCR", "n"}).size() +
                       EncodeRequest({"MULTI"}).size() + EncodeRequest({"INCR", "n"}).size() + 3;
  network().BreakNextAfter(primary.port(), answers.size() + begun);
  network().OnMove([&] {
    if (middle.IsLinked()) network().Refuse(primary.port());
  });
  network().Step(3000);
  network().OnMove(nullptr);
  middle.Run("REPLICAOF NO ONE");
  network().Step(3000);
  EXPECT_THAT(middle.Run("GET n"), Bulk("1"));
  ExpectSameData(middle, last);
  EXPECT_EQ(last.history().offset, middle.history().offset);
}

TEST_F(LinkTest, TheBacklogMayBeTooShort) {
  ReplicationMember& primary = world_.Add({"repl-backlog-size 16kb"});
  ReplicationMember& replica = AddLinked(primary);
  network().SetApart(primary.port(), replica.port());
  network().Break(primary.port(), replica.port());
  for (int i = 0; i < 40; ++i) primary.Run(StrCat("SET key", i, " ", std::string(1000, 'x')));
  network().SetAllTogether();
  network().Step(5000);
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 0);
  ExpectSameData(primary, replica);
  EXPECT_THAT(primary.Log(), HasSubstr("for lack of backlog"));
}

// --- Time.

TEST_F(LinkTest, TheReplicaGivesUpASilentPrimary) {
  ReplicationMember& primary = world_.Add({"repl-timeout 10", "repl-ping-replica-period 3"});
  ReplicationMember& replica = AddLinked(primary, {"repl-timeout 10"});
  network().Step(60'000);
  EXPECT_TRUE(replica.IsLinked()) << "pings keep it alive";
  EXPECT_EQ(network().ConnectionAttempts(), 1);
  network().Silence(primary.port(), replica.port());
  primary.Run("SET a 1");
  network().Step(6000);
  EXPECT_EQ(network().ConnectionAttempts(), 1);
  network().Step(10'000);
  EXPECT_EQ(network().ConnectionAttempts(), 2);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_THAT(replica.Log(), HasSubstr("MASTER timeout: no data nor PING received..."));
  ExpectSameData(primary, replica);
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 1);
}

TEST_F(LinkTest, ThePrimaryGivesUpASilentReplica) {
  ReplicationMember& primary = world_.Add({"repl-timeout 10"});
  ReplicationMember& replica = AddLinked(primary, {"repl-timeout 1000"});
  network().Silence(primary.port(), replica.port());
  network().Step(9000);
  EXPECT_EQ(primary.Info("connected_slaves"), "1");
  network().Step(5000);
  EXPECT_EQ(primary.Info("connected_slaves"), "0");
  EXPECT_THAT(primary.Log(), HasSubstr("Disconnecting timedout replica (streaming sync): 127.0.0.1:7002"));
  EXPECT_TRUE(replica.IsLinked()) << "nobody told it";
}

TEST_F(LinkTest, ConnectingMayTakeTooLong) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = world_.Add({"repl-timeout 5"});
  network().SetApart(primary.port(), replica.port());
  replica.Follow(primary);
  network().Step(4000);
  EXPECT_EQ(network().ConnectionAttempts(), 1);
  network().Step(4000);
  EXPECT_EQ(network().ConnectionAttempts(), 2);
  EXPECT_THAT(replica.Log(), HasSubstr("Timeout connecting to the MASTER..."));
  network().SetAllTogether();
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
}

TEST_F(LinkTest, APrimaryThatRefusesIsAskedOnceASecond) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = world_.Add();
  network().Refuse(primary.port());
  replica.Follow(primary);
  network().Step(10'000);
  EXPECT_GE(network().ConnectionAttempts(), 8);
  EXPECT_LE(network().ConnectionAttempts(), 12);
  EXPECT_EQ(replica.Info("master_link_status"), "down");
  network().Accept(primary.port());
  network().Step(3000);
  EXPECT_EQ(replica.Info("master_link_status"), "up");
}

// Sentinels do not promote a replica that has been without its primary for long, and know this from INFO.
TEST_F(LinkTest, InfoHasTheFieldsThatSentinelsRead) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  const auto has = [&](const char* field) { return !replica.Info(field).empty(); };
  const char* const fields[] = {"role",           "master_host",       "master_port",      "master_link_status",
                                "slave_priority", "slave_repl_offset", "replica_announced"};
  for (const char* field : fields) EXPECT_TRUE(has(field)) << field;
  EXPECT_TRUE(has("master_link_up_since_seconds"));
  EXPECT_FALSE(has("master_link_down_since_seconds"));
  network().SetApart(primary.port(), replica.port());
  network().Break(primary.port(), replica.port());
  network().Step(20'000);
  for (const char* field : fields) EXPECT_TRUE(has(field)) << field;
  EXPECT_FALSE(has("master_link_up_since_seconds"));
  EXPECT_GE(std::stoi(replica.Info("master_link_down_since_seconds")), 19);
  // A Sentinel may send the replica to another server, which does not make its data younger.
  replica.Run("REPLICAOF 127.0.0.1 1");
  network().Step(1000);
  EXPECT_GE(std::stoi(replica.Info("master_link_down_since_seconds")), 20);
}

TEST_F(LinkTest, ADatabaseOfTheStreamThatThisServerLacksEndsTheLink) {
  ReplicationMember& primary = world_.Add({"databases 32"});
  ReplicationMember& replica = AddLinked(primary, {"databases 32"});
  primary.Run("SELECT 20");
  primary.Run("SET x 1");
  primary.Run("DEL x");
  network().Step(1000);
  replica.Run("SAVE");
  replica.Stop();
  replica.Start({"databases 16", StrCat("replicaof 127.0.0.1 ", primary.port())});
  network().Step(5000);
  primary.Run("SET y 1");
  network().Step(2000);
  EXPECT_EQ(replica.Info("master_link_status"), "down");
  EXPECT_EQ(replica.Info("master_failed_command"), "select");
  for (int db = 0; db < 16; ++db) {
    replica.Run(StrCat("SELECT ", db));
    EXPECT_THAT(replica.Run("DBSIZE"), Int(0)) << db;
  }
}

// A primary that cannot write its snapshot in the format of this replica forks at each attempt.
TEST_F(LinkTest, APrimaryThatBreaksOffItsSnapshotsIsAskedMoreAndMoreRarely) {
  FakeNetwork::Stranger& stranger = network().Listen(9000);
  ReplicationMember& replica = world_.Add();
  replica.Run("REPLICAOF 127.0.0.1 9000");
  int attempts = 0;
  for (int i = 0; i < 600; ++i) {
    network().Step(100);
    if (stranger.received.find("PING") == std::string::npos) continue;
    network().SendAs(9000, "+PONG\r\n+OK\r\n+OK\r\n+OK\r\n");
    network().Run();
    network().SendAs(9000, StrCat("+FULLRESYNC ", std::string(40, 'b'), " 500\r\n"));
    network().Run();
    network().HangUpAs(9000);
    network().Run();
    stranger.received.clear();
    ++attempts;
  }
  EXPECT_GE(attempts, 4);
  EXPECT_LE(attempts, 7);
  EXPECT_THAT(replica.Info("master_sync_last_error"), HasSubstr("I/O error trying to sync with MASTER"));
}

TEST_F(LinkTest, TheBacklogGoesWhenNobodyCameForLong) {
  ReplicationMember& primary = world_.Add({"repl-backlog-ttl 5"});
  ReplicationMember& replica = AddLinked(primary);
  const std::string id = primary.history().id;
  network().Step(20'000);
  EXPECT_TRUE(primary->services().replication.stream().HasBacklog()) << "a replica is there";
  network().SetApart(primary.port(), replica.port());
  network().Break(primary.port(), replica.port());
  network().Step(4000);
  EXPECT_TRUE(primary->services().replication.stream().HasBacklog());
  const int64_t offset = primary.history().offset;
  network().Step(4000);
  EXPECT_FALSE(primary->services().replication.stream().HasBacklog());
  EXPECT_NE(primary.history().id, id) << "who comes back must not go on";
  EXPECT_GT(primary.history().offset, offset)
      << "who does not come back must not count as one that has the next writes";
  primary.Run("SET lost 1");
  network().SetAllTogether();
  network().Step(10'000);
  ExpectSameData(primary, replica);
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 0);
}

TEST_F(LinkTest, AReplicaThatBecomesAPrimaryKeepsItsBacklogForAWhile) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& one = AddLinked(primary, {"repl-backlog-ttl 60"});
  ReplicationMember& other = AddLinked(primary);
  network().Step(200'000);  // the primary has had no replicas for longer than repl-backlog-ttl
  one.Run("REPLICAOF NO ONE");
  network().Step(3000);
  EXPECT_TRUE(one->services().replication.stream().HasBacklog());
  other.Follow(one);
  network().Step(3000);
  EXPECT_TRUE(other.IsLinked());
  EXPECT_EQ(Stat(one, "sync_partial_ok"), 1);
  network().Step(3000);
  ExpectSameData(one, other);
}

// --- Offsets after a restart with an append-only file.

// A replica that was cut off has the offset of the old history. Elections must not prefer it to replicas of the new
// one.
TEST_F(LinkTest, AnAppendOnlyFileIsContinuedAboveTheOffsetsOfItsHistory) {
  ReplicationMember& primary = world_.Add({"appendonly yes", "cluster-enabled yes"});
  EXPECT_THAT(primary.Run("CLUSTER ADDSLOTSRANGE 0 16383"), Ok());
  network().Step(2500);
  int64_t highest = -1;
  // In one round nothing is written, in another the file is rewritten before there is a replica.
  for (int round = 0; round < 5; ++round) {
    if (round == 3) primary.Run("BGREWRITEAOF");
    network().Step(1000);
    ReplicationMember& replica = AddLinked(primary);
    EXPECT_GT(primary.history().offset, highest) << round;
    for (int i = 0; round != 2 && i < 100; ++i) primary.Run(StrCat("SET k", i, " v"));
    {
      TestClient client(primary.server());
      for (int i = 0; round != 2 && i < 100; ++i) client.Run("WAIT 1 1");
    }
    if (round == 1) primary.Run("BGREWRITEAOF");
    network().Step(60'000);
    highest = replica.history().offset;
    replica.Stop();
    primary.Stop();
    primary.Start();
  }
  EXPECT_THAT(primary.Run("DBSIZE"), Int(100));
}

// A replica that was cut off has the offset of a former history, whose backlog has gone.
TEST_F(LinkTest, FilesKeepTheOffsetOfAFormerHistory) {
  for (const char* save : {"BGREWRITEAOF", "SAVE"}) {
    const bool is_aof = save == std::string("BGREWRITEAOF");
    ReplicationMember& primary = world_.Add({"repl-backlog-ttl 5", is_aof ? "appendonly yes" : "appendonly no"});
    primary.server()->services().data.dataset.history.offset = 100'000'000;
    ReplicationMember& stale = AddLinked(primary);
    network().SetApart(primary.port(), stale.port());
    network().Break(primary.port(), stale.port());
    network().Step(10'000);
    ASSERT_FALSE(primary->services().replication.stream().HasBacklog());
    primary.Run(save);
    network().Step(5000);
    primary.Stop();
    primary.Start();
    AddLinked(primary);
    EXPECT_GT(primary.history().offset, stale.history().offset) << save;
  }
}

// The base of its file was written after a full synchronisation.
TEST_F(LinkTest, AReplicaWithAnAppendOnlyFileContinuesAboveItsPrimary) {
  ReplicationMember& primary = world_.Add();
  primary.server()->services().data.dataset.history.offset = 100'000'000;
  ReplicationMember& replica = AddLinked(primary, {"appendonly yes"});
  network().Step(3000);
  const int64_t offset = replica.history().offset;
  ASSERT_GE(offset, 100'000'000);
  replica.Run("REPLICAOF NO ONE");
  replica.Stop();
  replica.Start();
  AddLinked(replica);
  EXPECT_GT(replica.history().offset, offset);
}

// The files on the disk have the data before the synchronisation, so they must not be all that is left of later writes.
TEST_F(LinkTest, WithoutItsAppendOnlyFileAFormerReplicaRefusesWritesAndItsEnd) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = world_.Add({"appendonly yes"});
  replica.Run("SET old reign");
  primary.Run("SET a 1");
  replica.files().FailFrom(FaultyFiles::Operation::kLock, 1, EACCES);
  replica.Follow(primary);
  network().Step(5000);
  EXPECT_TRUE(replica.IsLinked());
  primary.Run("SET a 2");
  network().Step(1000);
  EXPECT_THAT(replica.Run("GET a"), Bulk("2")) << "the copy in memory is useful";
  replica.Run("REPLICAOF NO ONE");
  EXPECT_THAT(replica.Run("SET a 3"),
              ErrorStartsWith("MISCONF Errors writing to the AOF file: it could not be turned"));
  EXPECT_THAT(replica.Run("INFO persistence").Text(), HasSubstr("aof_last_bgrewrite_status:err"));
  EXPECT_THAT(replica.Run("SHUTDOWN"), ErrorStartsWith("ERR Errors trying to SHUTDOWN"));
  replica.files().Recover();
  network().Step(5000);
  EXPECT_THAT(replica.Run("SET a 3"), Ok());
  replica.Stop();
  replica.Start();
  EXPECT_THAT(replica.Run("GET a"), Bulk("3"));
}

// --- Expired keys.

TEST_F(LinkTest, AnExpiredKeyIsHiddenUntilThePrimaryDeletesIt) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("DEBUG SET-ACTIVE-EXPIRE 0");
  primary.Run("SET k v PX 1000");
  network().Run();
  EXPECT_THAT(replica.Run("GET k"), Bulk("v"));
  network().Step(3000);
  EXPECT_THAT(replica.Run("GET k"), Nil());
  EXPECT_THAT(replica.Run("EXISTS k"), Int(0));
  EXPECT_THAT(replica.Run("TTL k"), Int(-2));
  EXPECT_THAT(replica.Run("DBSIZE"), Int(1)) << "it is still there";
  EXPECT_THAT(replica.Run("KEYS *"), EmptyArray());
  EXPECT_THAT(primary.Run("GET k"), Nil());
  network().Run();
  EXPECT_THAT(replica.Run("DBSIZE"), Int(0));
  ExpectSameData(primary, replica);
}

TEST_F(LinkTest, TheStreamIsBelievedAboutExpiredKeys) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("SET k v PX 1000");
  network().Run();
  network().SetApart(primary.port(), replica.port());
  primary.Run("APPEND k w");
  primary.Run("PERSIST k");
  network().Step(3000);  // the deadline passes before the replica receives the removal
  EXPECT_THAT(replica.Run("GET k"), Nil());
  network().SetAllTogether();
  network().Run();
  EXPECT_THAT(replica.Run("GET k"), Bulk("vw"));
  ExpectSameData(primary, replica);
}

TEST_F(LinkTest, APromotedReplicaExpiresByItself) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("SET k v PX 1000");
  network().Run();
  replica.Run("REPLICAOF NO ONE");
  network().Step(3000);
  EXPECT_THAT(replica.Run("DBSIZE"), Int(0));
}

// A name that the replica has given to another command is still a name of the primary.
TEST_F(LinkTest, TheStreamHasOriginalNames) {
  auto& primary = world_.Add();
  auto& replica = world_.Add();
  replica->services().env.commands.Rename("set", "tmpset");
  replica->services().env.commands.Rename("append", "set");
  replica.Follow(primary);
  network().Step(2500);
  primary.Run("SET k 1");
  primary.Run("SET k 2");
  primary.Run("APPEND k 3");
  network().Step(1000);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_THAT(replica.Run("GET k"), Bulk("23"));
}

// Commands that change nothing do not end this. A client that has written nothing has nothing to lose.
TEST_F(LinkTest, NoServerCountsForAWriteOfALostHistory) {
  auto& other = world_.Add();
  other.Run("SET b 1");
  auto& server = world_.Add({"appendonly yes", "appendfsync always"});
  TestClient writer(server.server());
  TestClient reader(server.server());
  writer.Run("SET a 1");
  reader.Run("GET a");
  server.Follow(other);
  network().Step(2500);
  ASSERT_TRUE(server.IsLinked());
  EXPECT_THAT(server.Run("REPLICAOF NO ONE"), Ok());
  AddLinked(server, {"appendonly yes", "appendfsync always"});
  network().Step(5000);
  EXPECT_THAT(reader.Run("WAIT 1 0"), Int(1));
  EXPECT_THAT(reader.Run("WAITAOF 1 0 0")[0], Int(1));
  for (const char* line : {"WAIT 0 0", "PING", "GET b"}) {
    writer.Run(line);
    writer.Send("WAIT 1 500");
    network().Step(1000);
    EXPECT_THAT(writer.Read(), Int(0)) << line;
    writer.Send("WAITAOF 1 1 500");
    network().Step(1000);
    EXPECT_THAT(writer.Read(), ArrayOf(Int(0), Int(0))) << line;
  }
  writer.Run("SET c 1");
  network().Step(2000);
  EXPECT_THAT(writer.Run("WAIT 1 0"), Int(1));
  writer.Send("WAITAOF 1 1 0");
  network().Step(3000);
  EXPECT_THAT(writer.Read(), ArrayOf(Int(1), Int(1)));
}

}  // namespace
}  // namespace respite
