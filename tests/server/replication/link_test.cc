// The link between a primary and its replicas: the stream, breaks, timeouts, and who may do what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/replication/replication.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using Member = ReplicationWorld::Member;
using testing::HasSubstr;
using testing::Not;

class LinkTest : public testing::Test {
 protected:
  FakeNetwork& network() { return world_.network(); }
  Member& AddLinked(Member& primary, std::vector<std::string> directives = {}) {
    Member& replica = world_.Add(std::move(directives));
    replica.Follow(primary);
    network().Step(2500);
    EXPECT_TRUE(replica.IsLinked());
    return replica;
  }
  // Connections of replicas that were taken without a snapshot.
  static std::string Partial(Member& primary) {
    const std::string text = primary.Run("INFO stats").Text();
    const size_t at = text.find("sync_partial_ok:") + 16;
    return text.substr(at, text.find('\r', at) - at);
  }

  ReplicationWorld world_{42};
};

// One of every kind of effect.
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
      "FUNCTION LOAD \"#!lua name=lib\\nredis.register_function('w', function(k) return redis.call('INCR', k[1]) end)\"",
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
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary);
  for (const std::string& line : EffectLines()) {
    primary.Run(line);
    network().Run();
    ASSERT_EQ(SnapshotDifference(SnapshotOf(*primary.server()), SnapshotOf(*replica.server())), "") << line;
    ASSERT_EQ(primary.history().offset, replica.history().offset) << line;
  }
  network().Step(2000);
  ExpectSameData(primary, replica);
  EXPECT_EQ(Partial(primary), "0");
  EXPECT_THAT(replica.Log(), Not(HasSubstr("CRITICAL")));
}

TEST_F(LinkTest, EffectsArriveByteByByteAndAllAtOnce) {
  for (size_t piece : {size_t{1}, size_t{1'000'000}}) {
    ReplicationWorld world(piece);
    Member& primary = world.Add();
    Member& replica = world.Add();
    replica.Follow(primary);
    world.network().Step(2500);
    world.network().SetPiece(piece);
    for (const std::string& line : EffectLines()) primary.Run(line);
    primary.Run({"SET", "big", std::string(300'000, 'x')});
    world.network().Run();
    ExpectSameData(primary, replica);
  }
}

// The stream of a session, and what a replica that is there for all of it has.
TEST_F(LinkTest, ABreakAtEveryByteLosesNothingAndRepeatsNothing) {
  const std::vector<std::string> lines = {
      "INCR n", "MULTI", "INCR n", "RPUSH l x", "EXEC", "SELECT 4", "INCR m",   "MULTI",    "INCR m",   "SELECT 2",
      "INCR k", "EXEC",  "INCR k", "SELECT 0",  "INCR n", "EVAL \"redis.call('INCR','n') redis.call('INCR','o')\" 0"};
  ReplicationWorld world(5);
  Member& primary = world.Add();
  Member& replica = world.Add();
  replica.Follow(primary);
  world.network().Step(2500);
  const int64_t before = primary.history().offset;
  for (const std::string& line : lines) primary.Run(line);
  const auto octets = static_cast<uint64_t>(primary.history().offset - before);
  world.network().Run();
  for (uint64_t cut = 0; cut <= octets; ++cut) {
    // The stream comes all at once, and its end a byte too late.
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
  Member& primary = world_.Add();
  Member& middle = AddLinked(primary);
  Member& last = AddLinked(middle);
  for (const std::string& line : EffectLines()) primary.Run(line);
  network().Step(12'000);
  ExpectSameData(primary, middle);
  ExpectSameData(primary, last);
  EXPECT_EQ(middle.history().id, primary.history().id);
  EXPECT_EQ(last.history().id, primary.history().id);
  EXPECT_EQ(middle.history().offset, primary.history().offset);
  EXPECT_EQ(last.history().offset, primary.history().offset);
  const auto stream = [](Member& member) {
    std::string text;
    const Backlog& backlog = member->replication().stream().backlog();
    backlog.VisitFrom(backlog.Begin(), backlog.End(), [&](const BlobPart& part) { text += part.View(); });
    return text;
  };
  const std::string whole = stream(primary);
  EXPECT_TRUE(whole.ends_with(stream(middle)));
  EXPECT_TRUE(whole.ends_with(stream(last)));
  EXPECT_GT(stream(last).size(), 1000u);
}

TEST_F(LinkTest, ASnapshotOfAReplicaSaysWhatTheStreamHasSelected) {
  Member& primary = world_.Add();
  Member& middle = AddLinked(primary);
  primary.Run("SELECT 6");
  primary.Run("SET a 1");
  network().Run();
  Member& last = AddLinked(middle);
  primary.Run("SET b 1");
  network().Run();
  ExpectSameData(primary, last);
}

TEST_F(LinkTest, AMiddleOneThatBreaksAwayFromInsideATransactionKeepsItsReplicasRight) {
  Member& primary = world_.Add();
  Member& middle = AddLinked(primary);
  Member& last = AddLinked(middle);
  // One piece: a whole request, and the beginning of a transaction.
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
  Member& primary = world_.Add({"repl-backlog-size 16kb"});
  Member& replica = AddLinked(primary);
  network().SetApart(primary.port(), replica.port());
  network().Break(primary.port(), replica.port());
  for (int i = 0; i < 40; ++i) primary.Run("SET key" + std::to_string(i) + " " + std::string(1000, 'x'));
  network().SetAllTogether();
  network().Step(5000);
  EXPECT_EQ(Partial(primary), "0");
  ExpectSameData(primary, replica);
  EXPECT_THAT(primary.Log(), HasSubstr("for lack of backlog"));
}

// --- Time.

TEST_F(LinkTest, TheReplicaGivesUpASilentPrimary) {
  Member& primary = world_.Add({"repl-timeout 10", "repl-ping-replica-period 3"});
  Member& replica = AddLinked(primary, {"repl-timeout 10"});
  network().Step(60'000);
  EXPECT_TRUE(replica.IsLinked()) << "pings keep it alive";
  EXPECT_EQ(network().Dials(), 1);
  network().Silence(primary.port(), replica.port());
  primary.Run("SET a 1");
  network().Step(6000);
  EXPECT_EQ(network().Dials(), 1);
  network().Step(10'000);
  EXPECT_EQ(network().Dials(), 2);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_THAT(replica.Log(), HasSubstr("MASTER timeout: no data nor PING received..."));
  ExpectSameData(primary, replica);
  EXPECT_EQ(Partial(primary), "1");
}

TEST_F(LinkTest, ThePrimaryGivesUpASilentReplica) {
  Member& primary = world_.Add({"repl-timeout 10"});
  Member& replica = AddLinked(primary, {"repl-timeout 1000"});
  network().Silence(primary.port(), replica.port());
  network().Step(9000);
  EXPECT_EQ(primary.Info("connected_slaves"), "1");
  network().Step(5000);
  EXPECT_EQ(primary.Info("connected_slaves"), "0");
  EXPECT_THAT(primary.Log(), HasSubstr("Disconnecting timedout replica (streaming sync): 127.0.0.1:7002"));
  EXPECT_TRUE(replica.IsLinked()) << "nobody told it";
}

TEST_F(LinkTest, ConnectingMayTakeTooLong) {
  Member& primary = world_.Add();
  Member& replica = world_.Add({"repl-timeout 5"});
  network().SetApart(primary.port(), replica.port());
  replica.Follow(primary);
  network().Step(4000);
  EXPECT_EQ(network().Dials(), 1);
  network().Step(4000);
  EXPECT_EQ(network().Dials(), 2);
  EXPECT_THAT(replica.Log(), HasSubstr("Timeout connecting to the MASTER..."));
  network().SetAllTogether();
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
}

TEST_F(LinkTest, APrimaryThatRefusesIsAskedOnceASecond) {
  Member& primary = world_.Add();
  Member& replica = world_.Add();
  network().Refuse(primary.port());
  replica.Follow(primary);
  network().Step(10'000);
  EXPECT_GE(network().Dials(), 8);
  EXPECT_LE(network().Dials(), 12);
  EXPECT_EQ(replica.Info("master_link_status"), "down");
  network().Accept(primary.port());
  network().Step(3000);
  EXPECT_EQ(replica.Info("master_link_status"), "up");
}

TEST_F(LinkTest, TheBacklogGoesWhenNobodyCameForLong) {
  Member& primary = world_.Add({"repl-backlog-ttl 5"});
  Member& replica = AddLinked(primary);
  const std::string id = primary.history().id;
  network().Step(20'000);
  EXPECT_TRUE(primary->replication().stream().IsKept()) << "a replica is there";
  network().SetApart(primary.port(), replica.port());
  network().Break(primary.port(), replica.port());
  network().Step(4000);
  EXPECT_TRUE(primary->replication().stream().IsKept());
  network().Step(4000);
  EXPECT_FALSE(primary->replication().stream().IsKept());
  EXPECT_NE(primary.history().id, id) << "who comes back must not go on";
  primary.Run("SET lost 1");
  network().SetAllTogether();
  network().Step(10'000);
  ExpectSameData(primary, replica);
  EXPECT_EQ(Partial(primary), "0");
}

TEST_F(LinkTest, AReplicaThatBecomesAPrimaryKeepsItsBacklogForAWhile) {
  Member& primary = world_.Add();
  Member& one = AddLinked(primary, {"repl-backlog-ttl 60"});
  Member& other = AddLinked(primary);
  network().Step(200'000);  // it had no replicas for longer than the time to live
  one.Run("REPLICAOF NO ONE");
  network().Step(3000);
  EXPECT_TRUE(one->replication().stream().IsKept());
  other.Follow(one);
  network().Step(3000);
  EXPECT_TRUE(other.IsLinked());
  EXPECT_EQ(Partial(one), "1");
  network().Step(3000);
  ExpectSameData(one, other);
}

// --- Expired keys.

TEST_F(LinkTest, AnExpiredKeyIsHiddenUntilThePrimaryDeletesIt) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary);
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
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary);
  primary.Run("SET k v PX 1000");
  network().Run();
  network().SetApart(primary.port(), replica.port());
  primary.Run("APPEND k w");
  primary.Run("PERSIST k");
  network().Step(3000);  // the deadline passes before the replica hears of it
  EXPECT_THAT(replica.Run("GET k"), Nil());
  network().SetAllTogether();
  network().Run();
  EXPECT_THAT(replica.Run("GET k"), Bulk("vw"));
  ExpectSameData(primary, replica);
}

TEST_F(LinkTest, APromotedReplicaExpiresByItself) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary);
  primary.Run("SET k v PX 1000");
  network().Run();
  replica.Run("REPLICAOF NO ONE");
  network().Step(3000);
  EXPECT_THAT(replica.Run("DBSIZE"), Int(0));
}

// --- Who may do what.

TEST_F(LinkTest, AReplicaRefusesWrites) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary);
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

TEST_F(LinkTest, AReplicaThatLostItsPrimaryMayRefuseReads) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary, {"replica-serve-stale-data no"});
  EXPECT_THAT(replica.Run("GET a"), Nil());
  network().SetApart(primary.port(), replica.port());
  network().Break(primary.port(), replica.port());
  EXPECT_THAT(replica.Run("GET a"),
              Error("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."));
  EXPECT_THAT(replica.Run("PING"), ErrorStartsWith("MASTERDOWN"));
  EXPECT_THAT(replica.Run("INFO replication"), BulkThat(HasSubstr("master_link_status:down")));
  EXPECT_THAT(replica.Run("CONFIG SET replica-serve-stale-data yes"), Ok());
  EXPECT_THAT(replica.Run("GET a"), Nil());
}

TEST_F(LinkTest, APrimaryMayWantReplicas) {
  Member& primary = world_.Add({"min-replicas-to-write 1", "min-replicas-max-lag 5"});
  EXPECT_THAT(primary.Run("SET a 1"), Error("NOREPLICAS Not enough good replicas to write."));
  Member& replica = AddLinked(primary);
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

TEST_F(LinkTest, AConnectionOfAReplicaIsNoClient) {
  Member& primary = world_.Add();
  TestClient client(primary.server());
  client.Run("REPLCONF listening-port 1234");
  client.Send("PSYNC ? -1");
  network().Step(2000);
  const std::string text = client.Raw("");
  EXPECT_THAT(text, HasSubstr("+FULLRESYNC"));
  EXPECT_THAT(client.Raw(EncodeRequest({"GET", "a"})), HasSubstr("-ERR Replica can't interact with the keyspace\r\n"));
  EXPECT_EQ(client.Raw(EncodeRequest({"PSYNC", "?", "-1"})), "") << "once is enough";
  EXPECT_THAT(client.Raw(EncodeRequest({"REPLICAOF", "127.0.0.1", "7009"})),
              HasSubstr("-ERR Command is not valid when client is a replica."));
}

// --- Acknowledgements.

TEST_F(LinkTest, WaitCountsReplicas) {
  Member& primary = world_.Add();
  Member& one = AddLinked(primary);
  Member& other = AddLinked(primary);
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

TEST_F(LinkTest, WaitAofCountsDisks) {
  Member& primary = world_.Add({"appendonly yes", "appendfsync always"});
  Member& with = AddLinked(primary, {"appendonly yes", "appendfsync always"});
  Member& without = AddLinked(primary);
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

TEST_F(LinkTest, NonsenseForAcknowledgementsIsHarmless) {
  Member& primary = world_.Add();
  TestClient client(primary.server());
  EXPECT_THAT(client.Run("REPLCONF ACK 5"), NoReply()) << "of one who is no replica";
  client.Send("PSYNC ? -1");
  network().Step(2000);
  client.Raw("");
  for (const char* line : {"REPLCONF ACK -1", "REPLCONF ACK 9223372036854775807", "REPLCONF ACK 0 FACK -5",
                           "REPLCONF ACK 0 FACK 9223372036854775807", "REPLCONF GETACK *", "REPLCONF ACK",
                           "REPLCONF ACK x", "REPLCONF ACK 1 FACK", "REPLCONF ACK 1 FACK x", "REPLCONF"}) {
    client.Send(line);
    network().Step(100);
    EXPECT_FALSE(client.Closed()) << line;
  }
  primary.Run("SET a 1");
  EXPECT_EQ(primary.Info("connected_slaves"), "1");
}

TEST_F(LinkTest, AReplicaThatNeverReadsIsClosedAtItsLimit) {
  Member& primary = world_.Add({"client-output-buffer-limit replica 300kb 0 0", "repl-backlog-size 16kb"});
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

TEST_F(LinkTest, WhatWaitsBehindASnapshotCountsAsOutput) {
  Member& primary = world_.Add({"client-output-buffer-limit replica 300kb 0 0", "repl-backlog-size 16kb"});
  TestClient client(primary.server());
  primary.server().forker().Hold();
  client.Send("PSYNC ? -1");
  for (int i = 0; i < 100 && !client.Closed(); ++i) primary.Run({"SET", "k", std::string(10'000, 'x')});
  EXPECT_TRUE(client.Closed());
  network().Step(1000);
  EXPECT_LE(primary->replication().stream().backlog().Octets(), 20'000) << "nobody needs it any more";
}

TEST_F(LinkTest, TheLinkToThePrimaryIsNoClientThatCanBeEvicted) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary, {"maxmemory-clients 200kb"});
  network().SetPiece(100'000);
  primary.Run({"SET", "big", std::string(1'000'000, 'x')});
  for (int i = 0; i < 8; ++i) {
    network().RunOnce();
    replica.Run("PING");
  }
  network().Run();
  EXPECT_EQ(network().Dials(), 1);
  ExpectSameData(primary, replica);
}

// --- What goes over a link beside writes.

TEST_F(LinkTest, MessagesReachSubscribersOfTheReplica) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary);
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

TEST_F(LinkTest, WatchedAndTrackedKeysOfTheReplica) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary);
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

TEST_F(LinkTest, AReaderThatWaitsOnAReplicaIsServedByTheStream) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary);
  TestClient client(replica.server());
  EXPECT_THAT(client.Run("XREAD BLOCK 0 STREAMS x 0"), NoReply());
  primary.Run("XADD x 1-1 f v");
  network().Run();
  EXPECT_TRUE(client.Read().HasValue());
}

TEST_F(LinkTest, BlockedWritersArriveAsWhatTheyDid) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary);
  TestClient waiting(primary.server());
  waiting.Send("BLMOVE a b LEFT RIGHT 0");
  primary.Run("RPUSH a 1 2");
  network().Run();
  EXPECT_THAT(replica.Run("LRANGE b 0 -1"), Bulks({"1"}));
  ExpectSameData(primary, replica);
}

TEST_F(LinkTest, ClientsWhoWaitForAWriteAreUnblockedWhenTheServerBecomesAReplica) {
  Member& primary = world_.Add();
  Member& other = world_.Add();
  TestClient client(other.server());
  EXPECT_THAT(client.Run("BLPOP l 0"), NoReply());
  other.Follow(primary);
  network().Step(3000);
  primary.Run("RPUSH l 1");
  network().Step(1000);
  EXPECT_THAT(client.Read(), Error("UNBLOCKED force unblock from blocking operation, instance state changed "
                                   "(master -> replica?)"));
  ExpectSameData(primary, other);
}

TEST_F(LinkTest, AnAppendOnlyFileOfTheReplicaHasEverything) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary, {"appendonly yes"});
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

TEST_F(LinkTest, KillingTheLinkOfThePrimaryConnectsAgain) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary);
  EXPECT_THAT(replica.Run("CLIENT KILL TYPE MASTER"), Int(1));
  EXPECT_FALSE(replica.IsLinked());
  primary.Run("SET a 1");
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
  ExpectSameData(primary, replica);
  EXPECT_EQ(Partial(primary), "1");
  EXPECT_THAT(primary.Run("CLIENT KILL TYPE REPLICA"), Int(1));
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
}

TEST_F(LinkTest, APasswordIsNeeded) {
  Member& primary = world_.Add({"requirepass secret"});
  Member& replica = world_.Add();
  replica.Follow(primary);
  network().Step(3000);
  EXPECT_FALSE(replica.IsLinked());
  replica.Run("CONFIG SET masterauth secret");
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
}

TEST_F(LinkTest, APauseOfTheReplicaHoldsTheStreamAndLosesNothing) {
  Member& primary = world_.Add();
  Member& replica = AddLinked(primary);
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
