// MIGRATE between servers on a network in memory: which clients wait for it, and what happens to the keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "server/migration/migrations.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using testing::HasSubstr;

class MigrateTest : public ReplicationTest {
 protected:
  // "MIGRATE 127.0.0.1 7002 <words>"
  static std::string To(ReplicationMember& target, const std::string& words) {
    return StrCat("MIGRATE 127.0.0.1 ", target.port(), " ", words);
  }
  // Sends a MIGRATE that the target does not answer until SetTogether.
  void BeginToNowhere(TestClient& client, const std::string& words) {
    network().SetApart(source_.port(), target_.port());
    EXPECT_THAT(client.Run(To(target_, words)), NoReply());
    network().Run();
  }
  void ComeTogether() {
    network().SetAllTogether();
    network().Run();
  }

  ReplicationMember& source_ = world_.Add();
  ReplicationMember& target_ = world_.Add();
  TestClient client_{source_.server()};
};

TEST_F(MigrateTest, MovesKeys) {
  source_.Run("SET a 1 PX 100000");
  source_.Run("RPUSH b 1 2");
  EXPECT_THAT(client_.Run(To(target_, "'' 3 1000 KEYS a b none a")), NoReply());
  network().Run();
  EXPECT_THAT(client_.Read(), Error("ERR Target instance replied with error: BUSYKEY Target key name already exists."))
      << "named twice";
  EXPECT_THAT(source_.Run("DBSIZE"), Int(0));
  target_.Run("SELECT 3");
  EXPECT_THAT(target_.Run("PTTL a"), Int(100000));
  EXPECT_THAT(target_.Run("LRANGE b 0 -1"), Bulks({"1", "2"}));
  EXPECT_THAT(source_.server().journal().Lines(), testing::Contains("0: DEL a"));
}

TEST_F(MigrateTest, OthersAreServed) {
  source_.Run("SET k 1");
  BeginToNowhere(client_, "k 0 1000");
  EXPECT_THAT(source_.Run("SET other 1"), Ok());
  EXPECT_THAT(source_.Run("INFO clients"), BulkThat(HasSubstr("blocked_clients:1")));
  ComeTogether();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(source_.Run("EXISTS k other"), Int(1));
  EXPECT_THAT(target_.Run("GET k"), Bulk("1"));
}

TEST_F(MigrateTest, WhoNamesAKeyThatMovesWaits) {
  source_.Run("SET k 1");
  BeginToNowhere(client_, "k 0 1000");
  const std::vector<std::string> requests = {
      "SET k 2",  "GET k",   "DEL other k", "EVAL \"return redis.call('INCR', KEYS[1])\" 1 k",
      "FLUSHALL", "WATCH k", "SWAPDB 0 1",  "EVAL \"return 1\" 0"};
  std::vector<std::unique_ptr<TestClient>> clients;
  for (const std::string& request : requests) {
    clients.push_back(std::make_unique<TestClient>(source_.server()));
    EXPECT_THAT(clients.back()->Run(request), NoReply()) << request;
  }
  EXPECT_THAT(source_.Run("EVAL \"return 1\" 1 other"), Int(1));
  EXPECT_THAT(source_.Run("PUBLISH c m"), Int(0));
  EXPECT_THAT(source_.Run("DBSIZE"), Int(1));
  ComeTogether();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(clients[0]->Read(), Ok()) << "in order of arrival, and behind the end of it";
  for (size_t i = 1; i < clients.size(); ++i) EXPECT_TRUE(clients[i]->Read().HasValue()) << requests[i];
  EXPECT_THAT(target_.Run("GET k"), Bulk("1"));
}

TEST_F(MigrateTest, ATransactionWaitsAsAWhole) {
  source_.Run("SET k 1");
  source_.Run("SET other 1");
  TestClient other(source_.server());
  other.Run("MULTI");
  BeginToNowhere(client_, "k 0 1000");
  EXPECT_THAT(other.Run("INCR other"), Simple("QUEUED"));
  EXPECT_THAT(other.Run("INCR k"), Simple("QUEUED"));
  EXPECT_THAT(other.Run("EXEC"), NoReply());
  EXPECT_THAT(source_.Run("GET other"), Bulk("1"));
  ComeTogether();
  EXPECT_THAT(other.Read(), ArrayOf(Int(2), Int(1)));
}

TEST_F(MigrateTest, WatchingTransactionsHearOfIt) {
  source_.Run("SET k 1");
  TestClient other(source_.server());
  other.Run("WATCH k");
  other.Run("MULTI");
  other.Run("SET x 1");
  client_.Send(To(target_, "k 0 1000"));
  network().Run();
  EXPECT_THAT(other.Run("EXEC"), NilArray());
}

TEST_F(MigrateTest, AReplicaGetsTheDeletion) {
  ReplicationMember& replica = AddLinked(source_);
  source_.Run("SET k 1");
  client_.Send(To(target_, "k 0 1000"));
  network().Run();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(client_.Run("WAIT 1 0"), NoReply());
  network().Run();
  EXPECT_THAT(client_.Read(), Int(1));
  EXPECT_THAT(replica.Run("EXISTS k"), Int(0));
  ExpectSameData(source_, replica);
}

TEST_F(MigrateTest, ATargetThatIsSilentTimesOut) {
  source_.Run("SET k 1");
  BeginToNowhere(client_, "k 0 700");
  network().Step(600);
  EXPECT_THAT(client_.Read(), NoReply());
  network().Step(200);
  EXPECT_THAT(client_.Read(), Error("IOERR error or timeout writing to target instance"));
  network().SetAllTogether();
  client_.Send(To(target_, "k 0 700 COPY"));
  network().Run();
  EXPECT_THAT(client_.Read(), Ok());
  network().Silence(source_.port(), target_.port());
  client_.Send(To(target_, "k 0 700 REPLACE"));
  network().Step(1000);
  EXPECT_THAT(client_.Read(), ErrorStartsWith("IOERR error or timeout "));
  EXPECT_THAT(source_.Run("GET k"), Bulk("1"));
  EXPECT_THAT(source_.Run("INFO errorstats"), BulkThat(HasSubstr("errorstat_IOERR:count=2")));
  EXPECT_THAT(source_.Run("INFO commandstats"), BulkThat(HasSubstr("cmdstat_migrate:calls=3")));
}

// Bytes already sent must not prolong the wait for the answer.
TEST_F(MigrateTest, ATargetThatTakesEverythingAndDoesNotAnswerTimesOut) {
  FakeNetwork::Stranger& stranger = network().Listen(7100);
  source_.Run("SET k 1");
  client_.Send("MIGRATE 127.0.0.1 7100 k 0 700");
  network().Run();
  network().Step(600);
  EXPECT_THAT(stranger.received, HasSubstr("RESTORE"));
  EXPECT_THAT(client_.Read(), NoReply());
  network().Step(300);
  EXPECT_THAT(client_.Read(), Error("IOERR error or timeout reading to target instance"));
}

TEST_F(MigrateTest, ATargetThatIsNotThereIsRefused) {
  source_.Run("SET k 1");
  client_.Send("MIGRATE 127.0.0.1 7999 k 0 1000");
  network().Run();
  EXPECT_THAT(client_.Read(), Error("IOERR error or timeout writing to target instance"));
  client_.Send("MIGRATE 127.0.0.1 abc k 0 1000");
  EXPECT_THAT(client_.Read(), Error("IOERR error or timeout connecting to the client"));
}

TEST_F(MigrateTest, ALinkThatBreaksIsTriedOnceMore) {
  source_.Run("SET k 1");
  client_.Send(To(target_, "k 0 1000 COPY"));
  network().Run();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(source_.Run("INFO stats"), BulkThat(HasSubstr("migrate_cached_sockets:1")));
  // The other side closes a connection that was unused for long.
  TestClient other(target_.server());
  other.Run("CLIENT KILL TYPE normal");
  client_.Send(To(target_, "k 0 1000 REPLACE"));
  network().Run();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(source_.Run("EXISTS k"), Int(0));
  network().Step(12'000);
  EXPECT_THAT(source_.Run("INFO stats"), BulkThat(HasSubstr("migrate_cached_sockets:0")));
}

// If the source does not know whether the target has the key, it must keep the key.
TEST_F(MigrateTest, NoBreakLosesAKey) {
  for (uint64_t bytes = 0; bytes < 12; ++bytes) {
    source_.Run({"SET", "k", std::string(5000, 'x')});
    network().BreakNextAfter(target_.port(), bytes);
    client_.Send(To(target_, "k 0 1000 REPLACE"));
    network().Run();
    TestReply reply = client_.Read();
    const int64_t here = source_.Run("EXISTS k").Integer();
    EXPECT_EQ(here == 0, reply.Text() == "OK") << bytes;
    if (here == 0) {
      EXPECT_THAT(target_.Run("STRLEN k"), Int(5000)) << bytes;
    }
    network().Step(12'000);  // ends idle links
  }
}

TEST_F(MigrateTest, ACallerThatIsGoneDoesNotMatter) {
  ReplicationMember& replica = AddLinked(source_);
  source_.Run("SET k 1");
  {
    TestClient gone(source_.server());
    BeginToNowhere(gone, "k 0 1000");
  }
  TestClient waits(source_.server());
  EXPECT_THAT(waits.Run("GET k"), NoReply());
  ComeTogether();
  EXPECT_THAT(waits.Read(), Nil());
  EXPECT_THAT(target_.Run("GET k"), Bulk("1"));
  ExpectSameData(source_, replica);
}

TEST_F(MigrateTest, NobodyUnblocksTheCaller) {
  source_.Run("SET k 1");
  BeginToNowhere(client_, "k 0 1000");
  const std::string list = source_.Run("CLIENT LIST").Text();
  const size_t row = list.rfind('\n', list.find("cmd=migrate")) + 1;
  const std::string id = list.substr(row + 3, list.find(' ', row) - row - 3);
  EXPECT_THAT(source_.Run("CLIENT UNBLOCK " + id), Int(0));
  ComeTogether();
  EXPECT_THAT(client_.Read(), Ok());
}

TEST_F(MigrateTest, WhatAScriptChangedUndeclaredStays) {
  source_.Run("SET k 1");
  BeginToNowhere(client_, "k 0 1000");
  EXPECT_THAT(source_.Run("EVAL \"return redis.call('INCR', 'k')\" 1 other"), Int(2));
  ComeTogether();
  EXPECT_THAT(client_.Read(), ErrorStartsWith("ERR Keys that were changed while they were sent stay here"));
  EXPECT_THAT(source_.Run("GET k"), Bulk("2"));
}

TEST_F(MigrateTest, AKeyThatExpiresMeanwhileIsGone) {
  source_.Run("SET k 1 PX 300");
  BeginToNowhere(client_, "k 0 1000");
  network().Step(500);
  ComeTogether();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(source_.Run("EXISTS k"), Int(0));
}

TEST_F(MigrateTest, APauseOfWritesKeepsTheEndBack) {
  source_.Run("SET k 1");
  BeginToNowhere(client_, "k 0 1000");
  source_.Run("CLIENT PAUSE 5000 WRITE");
  ComeTogether();
  EXPECT_THAT(client_.Read(), NoReply());
  EXPECT_THAT(target_.Run("GET k"), Bulk("1"));
  source_.Run("CLIENT UNPAUSE");
  network().Step(200);
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(source_.Run("EXISTS k"), Int(0));
}

TEST_F(MigrateTest, AServerThatBecomesAReplicaKeepsItsKeys) {
  source_.Run("SET k 1");
  BeginToNowhere(client_, "k 0 60000");
  source_.Run("REPLICAOF 127.0.0.1 7999");
  EXPECT_THAT(client_.Read(), ErrorStartsWith("UNBLOCKED"));
  ComeTogether();
  network().Step(1000);
  EXPECT_THAT(source_.Run("GET k"), Bulk("1"));
}

TEST_F(MigrateTest, TwoOfTheSameKeyFollowEachOther) {
  source_.Run("SET k 1");
  TestClient other(source_.server());
  BeginToNowhere(client_, "k 0 1000 COPY");
  EXPECT_THAT(other.Run(To(target_, "k 0 1000 REPLACE")), NoReply());
  ComeTogether();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(other.Read(), Ok());
}

TEST_F(MigrateTest, ManyAtOnceHaveLinksOfTheirOwn) {
  std::vector<std::unique_ptr<TestClient>> clients;
  network().SetDelay(50);
  for (int i = 0; i < 100; ++i) {
    const std::string key = StrCat("k", i);
    source_.Run("SET " + key + " " + key);
    clients.push_back(std::make_unique<TestClient>(source_.server()));
    clients.back()->Send(To(target_, key + " 0 1000"));
  }
  network().Step(500);
  for (auto& client : clients) EXPECT_THAT(client->Read(), Ok());
  EXPECT_THAT(target_.Run("DBSIZE"), Int(100));
  EXPECT_THAT(source_.Run("DBSIZE"), Int(0));
}

TEST_F(MigrateTest, OnlyConsentIsConsent) {
  network().Listen(7100);
  source_.Run("SET k 1");
  for (const std::string answer : {"HTTP/1.1 400 Bad Request", "-", "", ":1", "$2", "*0", "_", "-A\rB", "OK"}) {
    client_.Send("MIGRATE 127.0.0.1 7100 k 0 700");
    network().Run();
    network().SendAs(7100, answer + "\r\n");
    network().Run();
    EXPECT_THAT(client_.Read(), ErrorStartsWith("ERR Target instance replied with error: ")) << answer;
    EXPECT_THAT(source_.Run("GET k"), Bulk("1")) << answer;
    network().Step(12'000);  // ends idle links
  }
}

TEST_F(MigrateTest, AnswersThatNobodyAskedForEndTheLink) {
  network().Listen(7100);
  source_.Run("SET k 1");
  client_.Send("MIGRATE 127.0.0.1 7100 k 0 1000");
  network().Run();
  network().SendAs(7100, "+OK\r\n+OK\r\n+OK\r\n");
  network().Run();
  EXPECT_TRUE(client_.Read().HasValue());
  EXPECT_EQ(source_->services().migrations.CountLinks(), 0U);
}

// Random MIGRATE commands with broken connections: no acknowledged write is lost, and no key is at both servers after a
// success.
TEST_F(MigrateTest, RandomRounds) {
  Random random(7);
  TestClient writer(source_.server());
  bool writer_waits = false;
  std::string value;
  std::string wanted;
  network().SetPiece(7);
  for (int round = 0; round < 600; ++round) {
    if (!writer_waits) {
      wanted = std::to_string(round);
      writer_waits = writer.Run("SET k " + wanted).HasValue() == false;
      if (!writer_waits) value = wanted;
    }
    client_.Send(To(target_, "k 0 1000 REPLACE"));
    for (uint64_t moves = random.Below(60); moves > 0; --moves) network().RunOnce();
    if (random.Below(4) == 0) network().Break(source_.port(), target_.port());
    if (!writer_waits) {
      wanted = StrCat(round, "b");
      writer_waits = !writer.Run("SET k " + wanted).HasValue();
      if (!writer_waits) value = wanted;
    }
    network().Run();
    if (writer_waits && writer.Read().HasValue()) {
      writer_waits = false;
      value = wanted;
    }
    ASSERT_FALSE(writer_waits);
    client_.Read();
    const TestReply here = source_.Run("GET k");
    const TestReply there = target_.Run("GET k");
    ASSERT_TRUE(here.Text() == value || there.Text() == value) << round;
  }
}

}  // namespace
}  // namespace respite
