// Servers change their roles, and restart: which server may continue from which history.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "server/replication/replication.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;

class RoleTest : public ReplicationTest {
 protected:
  static std::string FollowLine(ReplicationMember& primary) { return StrCat("replicaof 127.0.0.1 ", primary.port()); }
};

TEST_F(RoleTest, TheRoleAsClientsSeeIt) {
  ReplicationMember& primary = world_.Add();
  EXPECT_THAT(primary.Run("ROLE"), ArrayOf(Bulk("master"), Int(0), EmptyArray()));
  ReplicationMember& replica = AddLinked(primary);
  network().Step(2000);
  const std::string offset = std::to_string(primary.history().offset);
  EXPECT_THAT(primary.Run("ROLE"),
              ArrayOf(Bulk("master"), Int(primary.history().offset), ArrayOf(Bulks({"127.0.0.1", "7002", offset}))));
  EXPECT_THAT(replica.Run("ROLE"),
              ArrayOf(Bulk("slave"), Bulk("127.0.0.1"), Int(7001), Bulk("connected"), Int(primary.history().offset)));
  EXPECT_THAT(replica.Run("REPLICAOF 127.0.0.1 7001"), Simple("OK Already connected to specified master"));
  EXPECT_THAT(replica.Run("REPLICAOF NO ONE"), Ok());
  EXPECT_THAT(replica.Run("REPLICAOF NO ONE"), Ok());
  EXPECT_THAT(replica.Run("ROLE")[0], Bulk("master"));
  EXPECT_THAT(replica.Run("REPLICAOF 127.0.0.1 70000"), Error("ERR Invalid master port"));
  EXPECT_THAT(replica.Run("REPLICAOF 127.0.0.1 x"), Error("ERR Invalid master port"));
}

TEST_F(RoleTest, AReplicaSendsClientsThatFollowToItsPrimary) {
  ReplicationMember& primary = world_.Add();
  primary.Run("SET k v");
  ReplicationMember& replica = AddLinked(primary);
  const auto redirected = Error("REDIRECT 127.0.0.1:7001");
  EXPECT_THAT(replica.Run("GET k"), Bulk("v"));
  EXPECT_THAT(replica.Run("SET k w"), ErrorStartsWith("READONLY "));
  EXPECT_THAT(replica.Run("READONLY"), ErrorStartsWith("ERR This instance has cluster support disabled"));
  EXPECT_THAT(replica.Run("CLIENT CAPA redirect"), Ok());
  for (const char* request : {"GET k", "SET k w", "KEYS *", "EVAL_RO 'return 1' 0", "BLPOP list 1", "FLUSHALL"})
    EXPECT_THAT(replica.Run(request), redirected) << request;
  EXPECT_THAT(replica.Run({"EVAL", "return redis.call('GET', KEYS[1])", "1", "k"}), Bulk("v")) << "it may do anything";
  EXPECT_THAT(replica.Run("PING"), Simple("PONG"));
  EXPECT_THAT(replica.Run("WATCH k"), Ok());
  replica.Run("MULTI");
  EXPECT_THAT(replica.Run("GET k"), redirected);
  EXPECT_THAT(replica.Run("EXEC"), ErrorStartsWith("EXECABORT "));
  EXPECT_THAT(replica.Run("READONLY"), Ok());
  EXPECT_THAT(replica.Run("GET k"), Bulk("v"));
  EXPECT_THAT(replica.Run("SET k w"), redirected);
  EXPECT_THAT(replica.Run("READWRITE"), Ok());
  EXPECT_THAT(replica.Run("GET k"), redirected);
  replica.Run("REPLICAOF NO ONE");
  EXPECT_THAT(replica.Run("SET k w"), Ok());
}

TEST_F(RoleTest, AnotherReplicaGoesOnFromTheFormerHistory) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& one = AddLinked(primary);
  ReplicationMember& other = AddLinked(primary);
  primary.Run("SELECT 5");
  primary.Run("SET a 1");
  network().Run();
  const std::string former = primary.history().id;
  primary.Stop();
  one.Run("REPLICAOF NO ONE");
  one.Run("SET b 1");
  EXPECT_EQ(one.history().former_id, former);
  other.Follow(one);
  network().Step(3000);
  EXPECT_TRUE(other.IsLinked());
  EXPECT_EQ(Stat(one, "sync_partial_ok"), 1);
  EXPECT_EQ(Stat(one, "sync_full"), 0);
  EXPECT_EQ(other.history().id, one.history().id);
  EXPECT_EQ(other.history().former_id, former);
  ExpectSameData(one, other);
}

TEST_F(RoleTest, WhoIsAheadOfTheNewPrimaryDoesNotGoOn) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& one = AddLinked(primary);
  ReplicationMember& other = AddLinked(primary);
  network().SetApart(primary.port(), one.port());
  primary.Run("SET ahead 1");
  network().Run();
  EXPECT_THAT(other.Run("GET ahead"), Bulk("1"));
  one.Run("REPLICAOF NO ONE");
  one.Run("SET mine 1");
  one.Run("SET more " + std::string(300, 'x'));
  other.Follow(one);
  network().Step(3000);
  EXPECT_EQ(Stat(one, "sync_partial_ok"), 0);
  ExpectSameData(one, other);
  EXPECT_THAT(other.Run("GET ahead"), Nil());
}

TEST_F(RoleTest, TheFormerPrimaryFollowsWithoutASnapshotIfItIsNotAhead) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("SELECT 7");
  primary.Run("SET a 1");
  network().Run();
  replica.Run("REPLICAOF NO ONE");
  primary.Follow(replica);
  network().Step(3000);
  EXPECT_TRUE(primary.IsLinked());
  EXPECT_EQ(Stat(replica, "sync_partial_ok"), 1);
  replica.Run("SET b 1");
  network().Run();
  ExpectSameData(primary, replica);
}

TEST_F(RoleTest, TheFormerPrimaryThatIsAheadGetsASnapshot) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  network().SetApart(primary.port(), replica.port());
  primary.Run("SET lost 1");
  replica.Run("REPLICAOF NO ONE");
  network().SetAllTogether();
  replica.Run("SET won 1");
  primary.Follow(replica);
  network().Step(3000);
  EXPECT_EQ(Stat(replica, "sync_partial_ok"), 0);
  ExpectSameData(primary, replica);
  EXPECT_THAT(primary.Run("GET lost"), Nil());
}

TEST_F(RoleTest, ReplicasOfAReplicaLearnTheNewName) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& middle = AddLinked(primary);
  ReplicationMember& last = AddLinked(middle);
  middle.Run("REPLICAOF NO ONE");
  middle.Run("SET a 1");
  network().Step(3000);
  EXPECT_EQ(last.history().id, middle.history().id);
  EXPECT_EQ(Stat(middle, "sync_partial_ok"), 1);
  ExpectSameData(middle, last);
}

TEST_F(RoleTest, TwoThatFollowEachOtherDoNoHarm) {
  ReplicationMember& one = world_.Add();
  ReplicationMember& other = world_.Add();
  one.Follow(other);
  other.Follow(one);
  network().Step(5000);
  EXPECT_FALSE(one.IsLinked() && other.IsLinked());
  EXPECT_THAT(one.Run("PING"), Simple("PONG"));
  one.Run("REPLICAOF NO ONE");
  one.Run("SET a 1");
  network().Step(5000);
  ExpectSameData(one, other);
}

TEST_F(RoleTest, OneThatFollowsItselfDoesNoHarm) {
  ReplicationMember& one = world_.Add();
  one.Run("SET a 1");
  one.Follow(one);
  network().Step(5000);
  one.Run("REPLICAOF NO ONE");
  EXPECT_THAT(one.Run("GET a"), Bulk("1"));
}

// --- FAILOVER.

TEST_F(RoleTest, FailoverSwapsTheRolesWithoutASnapshot) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  ReplicationMember& other = AddLinked(primary);
  primary.Run("SELECT 3");
  for (int i = 0; i < 100; ++i) primary.Run("INCR n");
  EXPECT_THAT(primary.Run("FAILOVER TO 127.0.0.1 7002"), Ok());
  TestClient writer(primary.server());
  EXPECT_THAT(writer.Run("SET held 1"), NoReply()) << "writes are held back";
  network().Step(5000);
  EXPECT_EQ(primary.Info("role"), "slave");
  EXPECT_EQ(replica.Info("role"), "master");
  EXPECT_EQ(primary.Info("master_failover_state"), "no-failover");
  EXPECT_THAT(writer.Read(), ErrorStartsWith("READONLY"));
  EXPECT_TRUE(primary.IsLinked());
  EXPECT_EQ(Stat(replica, "sync_full"), 0);
  EXPECT_THAT(replica.Run("SET new 1"), Ok());
  network().Step(3000);
  ExpectSameData(replica, primary);
  other.Follow(replica);
  network().Step(3000);
  ExpectSameData(replica, other);
  EXPECT_EQ(Stat(replica, "sync_full"), 0);
}

TEST_F(RoleTest, FailoverTakesTheFirstThatHasEverything) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& far = AddLinked(primary);
  ReplicationMember& near = AddLinked(primary);
  network().SetApart(primary.port(), far.port());
  primary.Run("SET a 1");
  EXPECT_THAT(primary.Run("FAILOVER"), Ok());
  network().Step(5000);
  EXPECT_EQ(near.Info("role"), "master");
  EXPECT_EQ(far.Info("role"), "slave");
}

TEST_F(RoleTest, FailoverIsGivenUpAfterItsTimeout) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  network().SetApart(primary.port(), replica.port());
  primary.Run("SET a 1");
  EXPECT_THAT(primary.Run("FAILOVER TIMEOUT 2000"), Ok());
  EXPECT_EQ(primary.Info("master_failover_state"), "waiting-for-sync");
  TestClient writer(primary.server());
  EXPECT_THAT(writer.Run("SET b 1"), NoReply());
  EXPECT_THAT(primary.Run("FAILOVER"), Error("ERR FAILOVER already in progress."));
  EXPECT_THAT(primary.Run("REPLICAOF 127.0.0.1 7009"), Error("ERR REPLICAOF not allowed while failing over."));
  EXPECT_THAT(primary.Run("REPLICAOF NO ONE"), Error("ERR REPLICAOF not allowed while failing over."));
  network().Step(4000);
  EXPECT_EQ(primary.Info("master_failover_state"), "no-failover");
  EXPECT_EQ(primary.Info("role"), "master");
  EXPECT_THAT(writer.Read(), Ok());
}

TEST_F(RoleTest, TheStreamDoesNotGrowWhileAFailoverWaits) {
  ReplicationMember& primary = world_.Add({"repl-ping-replica-period 1"});
  ReplicationMember& replica = AddLinked(primary);
  network().SetApart(primary.port(), replica.port());
  primary.Run("SET a 1");
  EXPECT_THAT(primary.Run("FAILOVER"), Ok());
  const int64_t offset = primary.history().offset;
  network().Step(10'000);
  EXPECT_EQ(primary.history().offset, offset);
}

TEST_F(RoleTest, FailoverCanBeAborted) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  EXPECT_THAT(primary.Run("FAILOVER ABORT"), Error("ERR No failover in progress."));
  network().SetApart(primary.port(), replica.port());
  primary.Run("SET a 1");
  EXPECT_THAT(primary.Run("FAILOVER"), Ok());
  EXPECT_THAT(primary.Run("FAILOVER ABORT"), Ok());
  EXPECT_THAT(primary.Run("SET b 1"), Ok());
  network().SetAllTogether();
  network().Step(3000);
  ExpectSameData(primary, replica);
}

TEST_F(RoleTest, AForcedFailoverDoesNotWait) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  network().Silence(primary.port(), replica.port());
  primary.Run("SET behind 1");
  EXPECT_THAT(primary.Run("FAILOVER TO 127.0.0.1 7002 FORCE TIMEOUT 1000"), Ok());
  network().Step(6000);
  EXPECT_EQ(primary.Info("role"), "slave");
  EXPECT_EQ(replica.Info("role"), "master");
  network().Step(3000);
  ExpectSameData(primary, replica);
}

TEST_F(RoleTest, FailoverToOneThatRefusesIsUndone) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  EXPECT_THAT(primary.Run("FAILOVER TO 127.0.0.1 7002"), Ok());
  // The replica has become a primary with its own history meanwhile.
  replica.Run("REPLICAOF NO ONE");
  network().Step(6000);
  EXPECT_EQ(primary.Info("master_failover_state"), "no-failover");
  EXPECT_EQ(primary.Info("role"), "master");
  EXPECT_THAT(primary.Run("SET a 1"), Ok());
}

// The target has taken over, but its reply is lost. The old primary times out, asks again, and must not become a
// second primary.
TEST_F(RoleTest, FailoverWhoseReplyIsLostIsCompletedByTheNextRequest) {
  ReplicationMember& primary = world_.Add({"repl-timeout 3"});
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("SET a 1");
  network().Step(1000);
  network().SetDelay(50);
  EXPECT_THAT(primary.Run("FAILOVER"), Ok());
  for (int i = 0; i < 300 && replica.Info("role") != "master"; ++i) network().Step(10);
  ASSERT_EQ(replica.Info("role"), "master");
  ASSERT_EQ(primary.Info("master_failover_state"), "failover-in-progress");
  network().Silence(primary.port(), replica.port());
  EXPECT_THAT(replica.Run("SET b 1"), Ok());
  network().Step(15'000);
  EXPECT_EQ(primary.Info("master_failover_state"), "no-failover");
  EXPECT_EQ(primary.Info("role"), "slave");
  EXPECT_TRUE(primary.IsLinked());
  EXPECT_EQ(Stat(replica, "sync_full"), 0);
  ExpectSameData(replica, primary);
}

TEST_F(RoleTest, WhoHandsOverKeepsToItUntilItIsAborted) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  network().Refuse(replica.port());
  EXPECT_THAT(primary.Run("FAILOVER"), Ok());
  network().Step(3000);
  EXPECT_EQ(primary.Info("master_failover_state"), "failover-in-progress");
  EXPECT_THAT(primary.Run("REPLICAOF NO ONE"), Error("ERR REPLICAOF not allowed while failing over."));
  EXPECT_THAT(primary.Run("FAILOVER ABORT"), Ok());
  EXPECT_EQ(primary.Info("role"), "master");
  EXPECT_THAT(primary.Run("SET a 1"), Ok());
  network().Step(3000);
  ExpectSameData(primary, replica);
}

// Two servers hand over to each other at the same time.
TEST_F(RoleTest, WhoHandsOverMayBeMadeThePrimaryByAnother) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  network().Refuse(replica.port());
  EXPECT_THAT(primary.Run("FAILOVER"), Ok());
  network().Step(1000);
  TestClient client(primary.server());
  client.Send(StrCat("PSYNC ", primary.history().id, " ", primary.history().offset + 1, " FAILOVER"));
  EXPECT_EQ(primary.Info("role"), "master");
  EXPECT_EQ(primary.Info("master_failover_state"), "no-failover");
  EXPECT_THAT(primary.Run("SET a 1"), Ok());
}

// Redis: only a reply to PSYNC ends it, or the loss of the link while a reply is awaited.
TEST_F(RoleTest, AFailoverToOneThatCannotBeAskedGoesOn) {
  ReplicationMember& primary = world_.Add({"masterauth wrong"});
  ReplicationMember& replica = AddLinked(primary);
  replica.Run("CONFIG SET requirepass right");
  EXPECT_THAT(primary.Run("FAILOVER"), Ok());
  network().Step(1000);
  const int attempts = network().ConnectionAttempts();
  EXPECT_GE(attempts, 5) << "soon, since nobody may write meanwhile";
  EXPECT_EQ(primary.Info("master_failover_state"), "failover-in-progress");
  primary.Run("CONFIG SET masterauth right");
  network().Step(1000);
  EXPECT_EQ(primary.Info("master_failover_state"), "no-failover");
  EXPECT_EQ(replica.Info("role"), "master");
  ExpectSameData(primary, replica);
}

TEST_F(RoleTest, AFailoverWhosePsyncIsNotAnsweredIsUndone) {
  ReplicationMember& primary = world_.Add();
  FakeNetwork::Stranger& stranger = network().Listen(9000);
  TestClient replica(primary.server());
  replica.Run("REPLCONF listening-port 9000");
  replica.session().addresses.peer = "127.0.0.1:40000";
  replica.Send("PSYNC ? -1");
  network().Step(1000);
  replica.Send("REPLCONF ACK 0");
  EXPECT_THAT(primary.Run("FAILOVER TO 127.0.0.1 9000 FORCE TIMEOUT 500"), Ok());
  network().Step(1000);
  network().HangUpAs(9000);  // before PSYNC
  network().Step(1000);
  EXPECT_EQ(primary.Info("master_failover_state"), "failover-in-progress");
  network().SendAs(9000, "+PONG\r\n+OK\r\n+OK\r\n+OK\r\n");
  network().Run();
  EXPECT_THAT(stranger.received, testing::HasSubstr("PSYNC"));
  network().HangUpAs(9000);
  network().Run();
  EXPECT_EQ(primary.Info("master_failover_state"), "no-failover");
  EXPECT_EQ(primary.Info("role"), "master");
}

TEST_F(RoleTest, FailoverRefusesNonsense) {
  ReplicationMember& primary = world_.Add();
  EXPECT_THAT(primary.Run("FAILOVER"), Error("ERR FAILOVER requires connected replicas."));
  AddLinked(primary);
  EXPECT_THAT(primary.Run("FAILOVER TO 127.0.0.1 1"), Error("ERR FAILOVER target HOST and PORT is not a replica."));
  EXPECT_THAT(primary.Run("FAILOVER FORCE"),
              Error("ERR FAILOVER with force option requires both a timeout and target HOST and IP."));
  EXPECT_THAT(primary.Run("FAILOVER TIMEOUT 0"), Error("ERR FAILOVER timeout must be greater than 0"));
  EXPECT_THAT(primary.Run("FAILOVER TO 127.0.0.1 x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(primary.Run("FAILOVER WHY"), Error("ERR syntax error"));
}

TEST_F(RoleTest, AReplicaThatHasRestartedWithOlderDataDoesNotTakeOver) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  replica.Run("SAVE");
  primary.Run("SET a 1");
  network().Step(1000);
  network().SetApart(primary.port(), replica.port());
  replica.Stop();
  replica.Start({StrCat("replicaof 127.0.0.1 ", primary.port())});
  ASSERT_EQ(replica.history().id, primary.history().id);
  const auto ask = [&](int64_t from) {
    TestClient client(replica.server());
    return client.Run(StrCat("PSYNC ", primary.history().id, " ", from, " FAILOVER"));
  };
  EXPECT_THAT(ask(primary.history().offset + 1), ErrorStartsWith("ERR PSYNC FAILOVER offset is beyond my data"));
  EXPECT_EQ(replica.Info("role"), "slave");
  ask(replica.history().offset + 1);
  EXPECT_EQ(replica.Info("role"), "master");
}

TEST_F(RoleTest, OnlyAReplicaTakesOver) {
  ReplicationMember& primary = world_.Add();
  TestClient client(primary.server());
  EXPECT_THAT(client.Run("PSYNC " + primary.history().id + " 1 FAILOVER"),
              Error("ERR PSYNC FAILOVER can't be sent to a master."));
  ReplicationMember& replica = AddLinked(primary);
  TestClient other(replica.server());
  EXPECT_THAT(other.Run("PSYNC " + std::string(40, 'x') + " 1 FAILOVER"),
              Error("ERR PSYNC FAILOVER replid must match my replid."));
  EXPECT_EQ(replica.Info("role"), "slave");
}

// --- Starting again.

TEST_F(RoleTest, AReplicaGoesOnFromItsDump) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("SELECT 4");
  primary.Run("SET a 1");
  network().Run();
  EXPECT_THAT(replica.Run("SAVE"), Ok());
  primary.Run("SET b 1");
  network().Run();
  replica.Stop();
  primary.Run("SET c 1");
  replica.Start({FollowLine(primary)});
  EXPECT_EQ(replica.history().id, primary.history().id);
  EXPECT_LT(replica.history().offset, primary.history().offset);
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 1);
  EXPECT_EQ(Stat(primary, "sync_full"), 1);
  ExpectSameData(primary, replica);
}

TEST_F(RoleTest, ReplicasGoOnAfterThePrimaryStartedAgainFromItsDump) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("SELECT 4");
  primary.Run("SET a 1");
  network().Run();
  EXPECT_THAT(primary.Run("SAVE"), Ok());
  primary.Stop();
  network().Step(100);
  primary.Start();
  primary.Run("SELECT 4");
  primary.Run("SET b 1");
  network().Step(5000);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 1);
  EXPECT_EQ(Stat(primary, "sync_full"), 0);
  ExpectSameData(primary, replica);
}

TEST_F(RoleTest, TheBacklogOfAPrimaryThatStartedLongAgoIsKeptFromItsLoading) {
  ReplicationMember& primary = world_.Add({"repl-backlog-ttl 60"});
  ReplicationMember& replica = AddLinked(primary);
  EXPECT_THAT(primary.Run("SAVE"), Ok());
  primary.Stop();
  network().SetApart(primary.port(), replica.port());
  primary.Start({}, 3'600'000);  // the machine has run for an hour
  network().Step(30'000);
  network().SetAllTogether();
  network().Step(70'000);
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 1);
  EXPECT_EQ(Stat(primary, "sync_full"), 0);
}

TEST_F(RoleTest, AReplicaThatIsAheadOfTheDumpOfItsPrimaryGetsASnapshot) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("SAVE");
  primary.Run("SET lost 1");
  network().Run();
  primary.Stop();
  primary.Start();
  network().Step(5000);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_EQ(Stat(primary, "sync_full"), 1);
  ExpectSameData(primary, replica);
}

// A primary's dump records which database its stream had selected.
TEST_F(RoleTest, AFormerPrimaryGoesOnFromItsDumpInTheRightDatabase) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("SELECT 4");
  primary.Run("SET a 1");
  EXPECT_THAT(primary.Run("SAVE"), Ok());
  primary.Run("SET b 1");
  network().Run();
  primary.Stop();
  replica.Run("REPLICAOF NO ONE");
  primary.Start({FollowLine(replica)});
  network().Step(3000);
  EXPECT_EQ(Stat(replica, "sync_partial_ok"), 1);
  ExpectSameData(primary, replica);
}

// The primary's stream may still contain commands about keys whose deadlines in the dump have passed.
TEST_F(RoleTest, AReplicaKeepsExpiredKeysOfItsDump) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("SET k v PX 5000");
  network().Run();
  EXPECT_THAT(replica.Run("SAVE"), Ok());
  replica.Stop();
  primary.Run("PERSIST k");
  primary.Run("SET gone v PX 100");
  network().Step(10'000);
  replica.Start({FollowLine(primary)});
  network().Step(3000);
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 1);
  EXPECT_THAT(replica.Run("GET k"), Bulk("v"));
  ExpectSameData(primary, replica);
}

// Replicas that continue still have those keys, and must be told to delete them.
TEST_F(RoleTest, WhatExpiredWhileThePrimaryWasDownGoesFromItsReplicas) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("SET k v PX 5000");
  network().Run();
  EXPECT_THAT(primary.Run("SAVE"), Ok());
  primary.Stop();
  network().Step(10'000);
  primary.Start();
  network().Step(5000);
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 1);
  EXPECT_THAT(replica.Run("DBSIZE"), Int(0));
  ExpectSameData(primary, replica);
}

TEST_F(RoleTest, ALoadingPrimaryIsAskedAgain) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = world_.Add();
  primary.Run("SET a 1");
  primary.Run("SAVE");
  replica.Follow(primary);
  int asked = 0;
  primary.server().DuringLongTasks([&] {
    TestClient client(primary.server());
    if (asked++ == 0) {
      EXPECT_THAT(client.Run("PSYNC ? -1"), ErrorStartsWith("LOADING"));
      EXPECT_THAT(client.Run("REPLCONF capa eof"), Ok());
    }
  });
  primary.Run("CONFIG SET loading-process-events-interval-bytes 1024");
  primary.Run({"SET", "big", std::string(100'000, 'x')});
  primary.Run("CONFIG SET rdbcompression no");
  primary.Run("DEBUG RELOAD");
  EXPECT_GT(asked, 0);
  primary.server().DuringLongTasks(nullptr);
  network().Step(5000);
  ExpectSameData(primary, replica);
}

TEST_F(RoleTest, ClientsOfALoadingReplicaAreToldSo) {
  ReplicationMember& primary = world_.Add({"rdbcompression no"});
  ReplicationMember& replica = world_.Add({"loading-process-events-interval-bytes 1024"});
  primary.Run({"SET", "big", std::string(200'000, 'x')});
  bool has_asked = false;
  replica.server().DuringLongTasks([&] {
    if (std::exchange(has_asked, true)) return;
    TestClient client(replica.server());
    EXPECT_THAT(client.Run("GET big"), ErrorStartsWith("LOADING"));
    EXPECT_THAT(client.Run("SET a 1"), ErrorStartsWith("READONLY"));
    EXPECT_THAT(client.Run("REPLICAOF NO ONE"), ErrorStartsWith("LOADING"));
    EXPECT_THAT(client.Run("PSYNC ? -1"), ErrorStartsWith("LOADING"));
    EXPECT_THAT(client.Run("PING"), ErrorStartsWith("LOADING"));
    EXPECT_THAT(client.Run("INFO replication"), BulkThat(HasSubstr("master_sync_in_progress:1")));
  });
  replica.Follow(primary);
  network().Step(5000);
  EXPECT_TRUE(has_asked);
  ExpectSameData(primary, replica);
  replica.server().DuringLongTasks(nullptr);
}

TEST_F(RoleTest, ThePrimaryMayLeaveWhileItsSnapshotIsLoaded) {
  ReplicationMember& primary = world_.Add({"rdbcompression no"});
  ReplicationMember& replica = world_.Add({"loading-process-events-interval-bytes 1024"});
  primary.Run({"SET", "big", std::string(200'000, 'x')});
  bool has_broken = false;
  replica.server().DuringLongTasks([&] {
    if (!std::exchange(has_broken, true)) network().Break(primary.port(), replica.port());
  });
  replica.Follow(primary);
  network().Step(5000);
  EXPECT_TRUE(has_broken);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 1);
  ExpectSameData(primary, replica);
  replica.server().DuringLongTasks(nullptr);
}

}  // namespace
}  // namespace respite
