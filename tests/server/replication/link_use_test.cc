// Effects of a link on clients of both sides: which commands are allowed, acknowledgements, and what the link
// transports in addition to writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "server/dataset/eviction.h"
#include "server/replication/replication.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using testing::HasSubstr;

class LinkUseTest : public ReplicationTest {};

// --- Who may do what.

TEST_F(LinkUseTest, AReplicaRefusesWrites) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  const auto kReadOnly = Error("READONLY You can't write against a read only replica.");
  EXPECT_THAT(replica.Run("SET a 1"), kReadOnly);
  EXPECT_THAT(replica.Run("EVAL \"return redis.call('SET','a',1)\" 0"), ErrorStartsWith("READONLY "));
  EXPECT_THAT(replica.Run("MULTI"), Ok());
  EXPECT_THAT(replica.Run("SET a 1"), kReadOnly);
  EXPECT_THAT(replica.Run("EXEC"), ErrorStartsWith("EXECABORT"));
  replica.Run("CONFIG SET replica-read-only no");
  EXPECT_THAT(replica.Run("SET mine 1"), Ok());
  EXPECT_EQ(replica.history().offset, primary.history().offset) << "own writes are not of the history";
  EXPECT_THAT(replica.Run("WAIT 0 0"), ErrorStartsWith("ERR WAIT cannot be used with replica instances."));
  EXPECT_THAT(replica.Run("FAILOVER"), Error("ERR FAILOVER is not valid when server is a replica."));
}

TEST_F(LinkUseTest, AReplicaThatLostItsPrimaryMayRefuseReads) {
  ReplicationMember& primary = world_.Add();
  primary.Run({"FUNCTION", "LOAD",
               "#!lua name=l\nredis.register_function{function_name='f', callback=function() return 1 end, "
               "flags={'no-writes'}}\n"
               "redis.register_function{function_name='stale', callback=function() return 1 end, flags={'no-writes', "
               "'allow-stale'}}"});
  ReplicationMember& replica = AddLinked(primary, {"replica-serve-stale-data no"});
  EXPECT_THAT(replica.Run("GET a"), Nil());
  network().SetApart(primary.port(), replica.port());
  network().Break(primary.port(), replica.port());
  EXPECT_THAT(replica.Run("GET a"),
              Error("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."));
  EXPECT_THAT(replica.Run("PING"), ErrorStartsWith("MASTERDOWN"));
  for (const char* line : {"EVAL 'return 1' 0", "EVAL_RO 'return 1' 0", "FCALL f 0"})
    EXPECT_THAT(replica.Run(line), ErrorStartsWith("MASTERDOWN Link with MASTER")) << line;
  EXPECT_THAT(replica.Run({"EVAL", "#!lua flags=no-writes,allow-stale\nreturn 1", "0"}), Int(1));
  TestClient client(replica.server());
  client.Run("MULTI");
  EXPECT_THAT(client.Run("FCALL f 0"), ErrorStartsWith("MASTERDOWN")) << "refused when it is queued";
  EXPECT_THAT(client.Run("FCALL stale 0"), Simple("QUEUED"));
  EXPECT_THAT(client.Run("EXEC"), ErrorStartsWith("EXECABORT"));
  EXPECT_THAT(replica.Run("INFO replication"), BulkThat(HasSubstr("master_link_status:down")));
  EXPECT_THAT(replica.Run("CONFIG SET replica-serve-stale-data yes"), Ok());
  EXPECT_THAT(replica.Run("GET a"), Nil());
}

TEST_F(LinkUseTest, APrimaryMayWantReplicas) {
  ReplicationMember& primary = world_.Add({"min-replicas-to-write 1", "min-replicas-max-lag 5"});
  EXPECT_THAT(primary.Run("SET a 1"), Error("NOREPLICAS Not enough good replicas to write."));
  ReplicationMember& replica = AddLinked(primary);
  EXPECT_THAT(primary.Run("SET a 1"), Ok());
  network().SetApart(primary.port(), replica.port());
  network().Step(4000);
  EXPECT_THAT(primary.Run("SET a 2"), Ok());
  network().Step(4000);
  EXPECT_THAT(primary.Run("SET a 3"), ErrorStartsWith("NOREPLICAS"));
  EXPECT_THAT(primary.Run("GET a"), Bulk("2"));
  network().SetAllTogether();
  network().Step(2000);
  EXPECT_THAT(primary.Run("SET a 4"), Ok());
}

TEST_F(LinkUseTest, AConnectionOfAReplicaIsNoClient) {
  ReplicationMember& primary = world_.Add();
  TestClient client(primary.server());
  client.Run("REPLCONF listening-port 1234");
  client.Send("PSYNC ? -1");
  network().Step(2000);
  const std::string text = client.Raw("");
  EXPECT_THAT(text, HasSubstr("+FULLRESYNC"));
  EXPECT_EQ(client.Raw(EncodeRequest({"PSYNC", "?", "-1"})), "") << "once is enough";
  EXPECT_FALSE(client.Closed());
  EXPECT_EQ(client.Raw(EncodeRequest({"PING"})), "") << "an answer would stand in its stream";
  EXPECT_TRUE(client.Closed());
}

TEST_F(LinkUseTest, AReplicaIsClosedInsteadOfRefused) {
  ReplicationMember& primary = world_.Add();
  for (const char* line : {"GET a", "REPLCONF", "REPLCONF ACK", "NONSENSE", "REPLICAOF 127.0.0.1 7009"}) {
    TestClient client(primary.server());
    client.Send("PSYNC ? -1");
    network().Step(2000);
    client.Raw("");
    ASSERT_FALSE(client.Closed());
    client.Send(line);
    EXPECT_TRUE(client.Closed()) << line;
  }
  EXPECT_THAT(primary.Log(), HasSubstr("Replica generated a reply to command 'get', disconnecting it: id="));
  EXPECT_THAT(primary.Log(), HasSubstr("Replica generated a reply to command '<unknown>', disconnecting it: id="));
  EXPECT_THAT(primary.Log(),
              HasSubstr("== CRITICAL == This master is sending an error to its replica: 'ERR Replica can't "
                        "interact with the keyspace' after processing the command 'get'"));
}

TEST_F(LinkUseTest, AnOffsetThatIsNoneIsRefused) {
  ReplicationMember& primary = world_.Add();
  EXPECT_THAT(primary.Run("PSYNC id offset"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(primary.Log(), HasSubstr("asks for synchronization but with a wrong offset"));
  EXPECT_THAT(primary.Run("PING"), Simple("PONG"));
}

// The replica may still continue with the history that its own replicas have, so it does not disconnect them.
TEST_F(LinkUseTest, AReplicaThatTriesAnotherPrimaryKeepsItsOwnReplicas) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& middle = AddLinked(primary);
  ReplicationMember& last = AddLinked(middle);
  middle.Run("REPLICAOF 127.0.0.1 7999");
  network().Step(3000);
  EXPECT_TRUE(last.IsLinked());
  middle.Follow(primary);
  primary.Run("SET a 1");
  network().Step(3000);
  ExpectSameData(primary, last);
  EXPECT_EQ(last.history().id, primary.history().id);
  EXPECT_EQ(Stat(middle, "sync_full"), 1);
  EXPECT_EQ(Stat(middle, "sync_partial_ok"), 0);
}

// Otherwise the answer to PSYNC, and the beginning of the stream, would be discarded.
TEST_F(LinkUseTest, ClientReplyDoesNotSilenceTheStream) {
  ReplicationMember& primary = world_.Add();
  for (const char* line : {"CLIENT REPLY SKIP", "CLIENT REPLY OFF"}) {
    TestClient client(primary.server());
    client.Send(line);
    client.Send("PSYNC ? -1");
    network().Step(2000);
    EXPECT_THAT(client.Raw(""), HasSubstr("+FULLRESYNC")) << line;
  }
}

TEST_F(LinkUseTest, AShutdownThatIsAbortedLeavesTheWritesOfAFailoverHeld) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  network().SetApart(primary.port(), replica.port());
  primary.Run("SET a 1");
  EXPECT_THAT(primary.Run("FAILOVER"), Ok());
  TestClient held(primary.server());
  EXPECT_THAT(held.Run("SET a 2"), NoReply());
  TestClient ends(primary.server());
  EXPECT_THAT(ends.Run("SHUTDOWN NOSAVE"), NoReply());
  EXPECT_THAT(primary.Run("SHUTDOWN ABORT"), Ok());
  EXPECT_THAT(ends.Read(), ErrorStartsWith("ERR Errors trying to SHUTDOWN"));
  network().Step(200);
  EXPECT_THAT(held.Read(), NoReply());
  EXPECT_THAT(primary.Run("FAILOVER ABORT"), Ok());
  network().Step(200);
  EXPECT_THAT(held.Read(), Ok());
}

TEST_F(LinkUseTest, AWaitThatCannotBlockAsksNoReplica) {
  ReplicationMember& primary = world_.Add();
  AddLinked(primary);
  TestClient client(primary.server());
  client.Run("SET a 1");
  const int64_t offset = primary.history().offset;
  EXPECT_THAT(client.Run("EVAL \"return redis.call('WAIT', 2, 0)\" 0"), Int(1));
  client.Run("MULTI");
  client.Run("WAIT 2 0");
  client.Run("WAITAOF 0 2 0");
  EXPECT_EQ(client.Run("EXEC").Size(), 2u);
  network().Run();
  EXPECT_EQ(primary.history().offset, offset) << "REPLCONF GETACK would be part of the stream";
  client.Send("WAIT 2 0");
  EXPECT_GT(primary.history().offset, offset);
}

TEST_F(LinkUseTest, WaitDoesNotWaitForTheTimerAfterAChangeOfTheHistory) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& other = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  for (int i = 0; i < 100; ++i) primary.Run("INCR n");
  primary.Run("WAIT 1 0");
  network().Step(1000);
  primary.Follow(other);
  network().Step(3000);
  primary.Run("REPLICAOF NO ONE");
  network().Step(3000);
  ASSERT_TRUE(replica.IsLinked());
  TestClient client(primary.server());
  client.Run("SET a 1");
  EXPECT_THAT(client.Run("WAIT 1 0"), NoReply());
  network().Run();
  EXPECT_THAT(client.Read(), Int(1));
}

// The replica that takes over waits for the offset that its primary had when it paused writes.
TEST_F(LinkUseTest, TheOffsetDoesNotGrowDuringAManualFailover) {
  ReplicationMember& primary = world_.Add();
  AddLinked(primary);
  TestClient client(primary.server());
  client.Run("SET a 1");
  Pause& pause = primary->services().clients.pause;
  pause.PauseWrites(Pause::kCluster);
  network().Step(200);
  const int64_t offset = primary.history().offset;
  EXPECT_THAT(client.Run("WAIT 1 0"), NoReply());
  network().Step(25'000);
  EXPECT_THAT(client.Read(), Int(1)) << "replicas acknowledge once a second";
  EXPECT_EQ(primary.history().offset, offset);
  pause.ResumeWrites(Pause::kCluster);
  network().Step(15'000);
  EXPECT_GT(primary.history().offset, offset);
}

// A cluster node may be elected if its data is young enough, also if the primary that was elected before it died before
// this node could link to it.
TEST_F(LinkUseTest, TheAgeOfTheDataIsKeptWhileThePrimaryOfTheHistoryChanges) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  const auto age_s = [&] { return replica->services().replication.primary_link().GetFigures().data_age_s; };
  EXPECT_LE(age_s(), 10);
  replica->services().replication.Follow("127.0.0.1", 1, History::kMaxOffset);
  network().Step(20'000);
  EXPECT_FALSE(replica.IsLinked());
  EXPECT_THAT(age_s(), testing::AllOf(testing::Ge(19), testing::Le(21)));
  replica->services().replication.Follow("127.0.0.1", 2, std::nullopt);
  EXPECT_EQ(age_s(), -1);
  primary->services().replication.Follow("127.0.0.1", 2, History::kMaxOffset);
  EXPECT_EQ(primary->services().replication.primary_link().GetFigures().data_age_s, -1) << "it was a primary";
}

TEST_F(LinkUseTest, WhatWasWrittenMeanwhileFollowsTheAcknowledgement) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  TestClient client(primary.server());
  client.Run("REPLCONF capa eof");
  client.Send("PSYNC ? -1");
  network().Step(2000);
  client.Raw("");
  primary.Run("SET meanwhile 1");
  EXPECT_THAT(client.Raw(EncodeRequest({"REPLCONF", "ACK", "0"})), HasSubstr("meanwhile"));
  EXPECT_FALSE(client.Closed());
}

TEST_F(LinkUseTest, AReplicaThatDoesNotAcknowledgeItsSnapshotIsClosed) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes", "repl-timeout 5"});
  TestClient client(primary.server());
  client.Run("REPLCONF capa eof");
  client.Send("PSYNC ? -1");
  network().Step(2000);
  EXPECT_THAT(client.Raw(""), HasSubstr("$EOF:"));
  network().Step(8000);
  EXPECT_TRUE(client.Closed());
}

// --- Acknowledgements.

TEST_F(LinkUseTest, WaitCountsReplicas) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& one = AddLinked(primary);
  ReplicationMember& other = AddLinked(primary);
  TestClient client(primary.server());
  client.Run("SET a 1");
  EXPECT_THAT(client.Run("WAIT 2 0"), NoReply());
  network().Run();
  EXPECT_THAT(client.Read(), Int(2)) << "without waiting for the timer";
  network().SetApart(primary.port(), other.port());
  client.Run("SET a 2");
  EXPECT_THAT(client.Run("WAIT 2 1500"), NoReply());
  network().Step(1000);
  EXPECT_THAT(client.Read(), NoReply());
  network().Step(1000);
  EXPECT_THAT(client.Read(), Int(1));
  EXPECT_THAT(client.Run("WAIT 1 0"), Int(1));
  network().SetAllTogether();
  network().Step(2000);
  EXPECT_THAT(client.Run("WAIT 2 0"), Int(2));
  (void)one;
}

// A replica to which the test sends a snapshot file. It has received the whole file, so it is online, but it may still
// be loading the file and may fail.
class FileReceiverTest : public ReplicationTest {
 protected:
  FileReceiverTest() {
    replica_.Run("REPLCONF listening-port 1234 ip-address 127.0.0.1 capa psync2");
    replica_.Send("PSYNC ? -1");
    network().Step(1500);
    EXPECT_THAT(replica_.Raw(""), HasSubstr("REDIS0"));
    EXPECT_EQ(replica_.session().replica->state, Replica::State::kOnline);
    EXPECT_EQ(primary_.history().offset, 0);
  }
  void Acknowledge() { replica_.Raw(EncodeRequest({"REPLCONF", "ACK", std::to_string(primary_.history().offset)})); }

  ReplicationMember& primary_ =
      world_.Add({"repl-diskless-sync no", "min-replicas-to-write 1", "repl-ping-replica-period 3600"});
  TestClient replica_{primary_.server()};
};

TEST_F(FileReceiverTest, CountsForWaitAfterItsFirstAcknowledgement) {
  for (const auto& [line, missing] : {std::pair{"WAIT 1 500", Int(0)}, {"WAITAOF 0 1 500", ArrayOf(Int(0), Int(0))}}) {
    TestClient client(primary_.server());
    EXPECT_THAT(client.Run(line), NoReply());
    network().Step(1000);
    EXPECT_THAT(client.Read(), missing);
  }
  TestClient waits(primary_.server());
  EXPECT_THAT(waits.Run("WAIT 1 0"), NoReply());
  Acknowledge();
  EXPECT_THAT(waits.Read(), Int(1));
}

TEST_F(FileReceiverTest, IsAGoodReplicaAfterItsFirstAcknowledgement) {
  EXPECT_EQ(primary_.Info("connected_slaves"), "1");
  EXPECT_EQ(primary_.Info("min_slaves_good_slaves"), "0");
  EXPECT_THAT(primary_.Run("SET a 1"), ErrorStartsWith("NOREPLICAS"));
  Acknowledge();
  EXPECT_EQ(primary_.Info("min_slaves_good_slaves"), "1");
  EXPECT_THAT(primary_.Run("SET a 1"), Ok());
}

TEST_F(FileReceiverTest, MayTakeOverAfterItsFirstAcknowledgement) {
  EXPECT_THAT(primary_.Run("FAILOVER"), Ok());
  // The offset is not enough: the replica may have sent it before it received the file.
  replica_.session().replica->acked_offset = primary_.history().offset;
  network().Step(1000);
  EXPECT_EQ(primary_.Info("master_failover_state"), "waiting-for-sync");
  EXPECT_EQ(primary_.Info("role"), "master");
  Acknowledge();
  network().Step(200);
  EXPECT_THAT(primary_.Log(), HasSubstr("Failover target 127.0.0.1:1234 is synced, failing over."));
}

TEST_F(FileReceiverTest, DelaysAShutdownUntilItsFirstAcknowledgement) {
  TestClient client(primary_.server());
  EXPECT_THAT(client.Run("SHUTDOWN NOSAVE"), NoReply());
  network().Step(1000);
  EXPECT_EQ(primary_.server().StoppedWith(), std::nullopt);
  Acknowledge();
  primary_.server().Cron();
  EXPECT_EQ(primary_.server().StoppedWith(), 0);
}

// It has no snapshot to load.
TEST_F(FileReceiverTest, CountsImmediatelyIfItContinues) {
  TestClient other(primary_.server());
  other.Send("PSYNC " + primary_.history().id + " 1");
  EXPECT_THAT(other.Raw(""), HasSubstr("+CONTINUE"));
  EXPECT_EQ(primary_.Info("min_slaves_good_slaves"), "1");
  TestClient client(primary_.server());
  EXPECT_THAT(client.Run("WAIT 1 0"), Int(1));
}

TEST_F(LinkUseTest, WaitAofCountsDisks) {
  ReplicationMember& primary = world_.Add({"appendonly yes", "appendfsync always"});
  ReplicationMember& with = AddLinked(primary, {"appendonly yes", "appendfsync always"});
  ReplicationMember& without = AddLinked(primary);
  network().Step(3000);
  TestClient client(primary.server());
  client.Run("SET a 1");
  client.Send("WAITAOF 1 1 0");
  network().Step(3000);
  EXPECT_THAT(client.Read(), ArrayOf(Int(1), Int(1)));
  client.Run("SET a 2");
  client.Send("WAITAOF 0 2 500");
  network().Step(3000);
  EXPECT_THAT(client.Read(), ArrayOf(Int(1), Int(1)));
  ExpectSameData(primary, with);
  ExpectSameData(primary, without);
}

// A write to a primary that never had a replica has the offset 0. A replica that links later reports 0 too, as long as
// its append-only file lacks the snapshot, or if it has no such file.
TEST_F(LinkUseTest, WaitAofCountsNoDiskWithoutTheSnapshot) {
  ReplicationMember& primary = world_.Add({"appendonly yes", "appendfsync always"});
  TestClient client(primary.server());
  client.Run("SET a 1");
  AddLinked(primary);
  network().Step(3000);
  client.Send("WAITAOF 1 1 500");
  network().Step(3000);
  EXPECT_THAT(client.Read(), ArrayOf(Int(1), Int(0)));
  AddLinked(primary, {"appendonly yes", "appendfsync always"});
  client.Send("WAITAOF 1 1 0");
  network().Step(3000);
  EXPECT_THAT(client.Read(), ArrayOf(Int(1), Int(1)));
}

TEST_F(LinkUseTest, NonsenseForAcknowledgementsIsHarmless) {
  ReplicationMember& primary = world_.Add();
  TestClient client(primary.server());
  EXPECT_THAT(client.Run("REPLCONF ACK 5"), NoReply()) << "of one who is no replica";
  client.Send("PSYNC ? -1");
  network().Step(2000);
  client.Raw("");
  for (const char* line :
       {"REPLCONF ACK -1", "REPLCONF ACK 9223372036854775807", "REPLCONF ACK 0 FACK -5",
        "REPLCONF ACK 0 FACK 9223372036854775807", "REPLCONF GETACK *", "REPLCONF ACK x", "REPLCONF ACK 1 FACK x"}) {
    client.Send(line);
    network().Step(100);
    EXPECT_FALSE(client.Closed()) << line;
  }
  primary.Run("SET a 1");
  EXPECT_EQ(primary.Info("connected_slaves"), "1");
}

TEST_F(LinkUseTest, AReplicaThatNeverReadsIsClosedAtItsLimit) {
  ReplicationMember& primary = world_.Add({"client-output-buffer-limit replica 300kb 0 0", "repl-backlog-size 16kb"});
  TestClient client(primary.server());
  client.Send("PSYNC ? -1");
  network().Step(2000);
  ASSERT_EQ(primary.Info("connected_slaves"), "1");
  client.SetReading(TestClient::Reading::kNo);
  for (int i = 0; i < 100 && !client.Closed(); ++i) primary.Run({"SET", "k", std::string(10'000, 'x')});
  EXPECT_TRUE(client.Closed());
  EXPECT_EQ(primary.Info("connected_slaves"), "0");
  EXPECT_THAT(primary.Log(), HasSubstr("for overcoming of output buffer limits"));
}

TEST_F(LinkUseTest, WhatWaitsBehindASnapshotCountsAsOutput) {
  ReplicationMember& primary = world_.Add({"client-output-buffer-limit replica 300kb 0 0", "repl-backlog-size 16kb"});
  TestClient client(primary.server());
  primary.server().forker().Hold();
  client.Send("PSYNC ? -1");
  for (int i = 0; i < 100 && !client.Closed(); ++i) primary.Run({"SET", "k", std::string(10'000, 'x')});
  EXPECT_TRUE(client.Closed());
  network().Step(1000);
  EXPECT_LE(primary->services().replication.stream().backlog().RawBytes(), 20'000) << "nobody needs it any more";
}

TEST_F(LinkUseTest, TheLinkToThePrimaryIsNoClientThatCanBeEvicted) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary, {"maxmemory-clients 200kb"});
  network().SetPiece(100'000);
  primary.Run({"SET", "big", std::string(1'000'000, 'x')});
  for (int i = 0; i < 8; ++i) {
    network().RunOnce();
    replica.Run("PING");
  }
  network().Run();
  EXPECT_EQ(network().ConnectionAttempts(), 1);
  ExpectSameData(primary, replica);
}

// A replica that lags costs memory, but no key is evicted for it.
TEST_F(LinkUseTest, OutputOfReplicasEvictsNoKeys) {
  ReplicationMember& primary =
      world_.Add({"maxmemory-policy allkeys-random", "repl-backlog-size 16kb", "slowlog-log-slower-than -1"});
  ReplicationMember& replica = AddLinked(primary);
  for (int i = 0; i < 100; ++i) primary.Run({"SET", StrCat("key:", i), std::string(1000, 'x')});
  network().Run();
  network().SetWindow(16 * 1024);
  network().SetApart(primary.port(), replica.port());
  const int64_t offset = primary.history().offset;
  for (int i = 0; i < 30'000; ++i) primary.Run({"SETRANGE", "key:0", "0", std::string(100, 'y')});
  const auto behind = static_cast<size_t>(primary.history().offset - offset);
  const size_t uncounted = primary->services().data.eviction.UncountedBytes();
  EXPECT_GT(uncounted, behind - size_t{2} * 16 * 1024) << "but the backlog, and what the network has";
  EXPECT_LT(uncounted, behind + behind / 50);
}

// --- What goes over a link beside writes.

TEST_F(LinkUseTest, MessagesReachSubscribersOfTheReplica) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  TestClient subscriber(replica.server());
  subscriber.Run("SUBSCRIBE channel");
  primary.Run("PUBLISH channel hello");
  primary.Run("MULTI");
  primary.Run("PUBLISH channel again");
  primary.Run("SET a 1");
  primary.Run("EXEC");
  network().Run();
  EXPECT_THAT(subscriber.Read(), Bulks({"message", "channel", "hello"}));
  EXPECT_THAT(subscriber.Read(), Bulks({"message", "channel", "again"}));
}

TEST_F(LinkUseTest, WatchedAndTrackedKeysOfTheReplica) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  TestClient watching(replica.server());
  TestClient tracking(replica.server(), RespVersion::kResp3);
  watching.Run("WATCH a");
  tracking.Run("CLIENT TRACKING ON");
  tracking.Run("GET a");
  primary.Run("SET a 1");
  network().Run();
  watching.Run("MULTI");
  watching.Run("GET a");
  EXPECT_THAT(watching.Run("EXEC"), NilArray());
  EXPECT_THAT(tracking.Read(), PushOf({Bulk("invalidate"), Bulks({"a"})}));
}

TEST_F(LinkUseTest, AReaderThatWaitsOnAReplicaIsServedByTheStream) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  TestClient client(replica.server());
  EXPECT_THAT(client.Run("XREAD BLOCK 0 STREAMS x 0"), NoReply());
  primary.Run("XADD x 1-1 f v");
  network().Run();
  EXPECT_TRUE(client.Read().HasValue());
}

TEST_F(LinkUseTest, BlockedWritersArriveAsWhatTheyDid) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  TestClient waiting(primary.server());
  waiting.Send("BLMOVE a b LEFT RIGHT 0");
  primary.Run("RPUSH a 1 2");
  network().Run();
  EXPECT_THAT(replica.Run("LRANGE b 0 -1"), Bulks({"1"}));
  ExpectSameData(primary, replica);
}

TEST_F(LinkUseTest, ClientsWhoWaitForAWriteAreUnblockedWhenTheServerBecomesAReplica) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& other = world_.Add();
  TestClient client(other.server());
  EXPECT_THAT(client.Run("BLPOP l 0"), NoReply());
  client.Deliver("PING\r\n");
  other.Follow(primary);
  network().Step(3000);
  primary.Run("RPUSH l 1");
  network().Step(1000);
  EXPECT_THAT(client.Read(), Error("UNBLOCKED force unblock from blocking operation, instance state changed "
                                   "(master -> replica?)"));
  EXPECT_THAT(client.Read(), NoReply());  // the connection has ended
  EXPECT_TRUE(client.Closed());
  ExpectSameData(primary, other);
}

TEST_F(LinkUseTest, AnAppendOnlyFileOfTheReplicaHasEverything) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary, {"appendonly yes"});
  primary.Run("SET a 1");
  primary.Run("SELECT 3");
  primary.Run("MULTI");
  primary.Run("SET b 1");
  primary.Run("INCR c");
  primary.Run("EXEC");
  network().Step(3000);
  replica.Stop();
  primary.Run("SET d 1");
  network().SetApart(primary.port(), replica.port());
  replica.Start({"replicaof 127.0.0.1 7001"});
  EXPECT_THAT(replica.Run("GET a"), Bulk("1"));
  EXPECT_THAT(replica.Run("DBSIZE"), Int(1));
  network().SetAllTogether();
  network().Step(20'000);
  ExpectSameData(primary, replica);
}

TEST_F(LinkUseTest, KillingTheLinkOfThePrimaryConnectsAgain) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  EXPECT_THAT(replica.Run("CLIENT KILL TYPE MASTER"), Int(1));
  EXPECT_FALSE(replica.IsLinked());
  EXPECT_EQ(replica->services().replication.primary_link().GetFigures().data_age_s, 0) << "decides about elections";
  primary.Run("SET a 1");
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
  ExpectSameData(primary, replica);
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 1);
  EXPECT_THAT(primary.Run("CLIENT KILL TYPE REPLICA"), Int(1));
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
}

TEST_F(LinkUseTest, APasswordIsNeeded) {
  ReplicationMember& primary = world_.Add({"requirepass secret"});
  ReplicationMember& replica = world_.Add();
  replica.Follow(primary);
  network().Step(3000);
  EXPECT_FALSE(replica.IsLinked());
  replica.Run("CONFIG SET masterauth secret");
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
}

TEST_F(LinkUseTest, APauseOfTheReplicaHoldsTheStreamAndLosesNothing) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  replica.Run("CLIENT PAUSE 3000 ALL");
  for (int i = 0; i < 50; ++i) primary.Run("INCR n");
  network().Step(1000);
  network().Break(primary.port(), replica.port());
  for (int i = 0; i < 50; ++i) primary.Run("INCR n");
  network().Step(10'000);
  ExpectSameData(primary, replica);
  EXPECT_EQ(replica.history().offset, primary.history().offset);
}

}  // namespace
}  // namespace respite
