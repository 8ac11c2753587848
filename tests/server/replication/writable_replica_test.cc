// Replicas with `replica-read-only no` whose clients have written: their data is not that of the primary's history.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/replication/replication.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using testing::HasSubstr;

class WritableReplicaTest : public ReplicationTest {
 protected:
  WritableReplicaTest() {
    primary_.Run("SET x 1");
    network().Step(1000);
  }
  // Makes the writable replica a primary whose former primary has died. Returns whether `last_` could continue without
  // a snapshot.
  bool PromoteAndContinue() {
    primary_.Stop();
    writable_.Run("REPLICAOF NO ONE");
    network().Step(3000);
    EXPECT_TRUE(last_.IsLinked());
    ExpectSameData(writable_, last_);
    return Stat(writable_, "sync_partial_ok") == 1;
  }

  ReplicationMember& primary_ = world_.Add();
  ReplicationMember& writable_ = AddLinked(primary_, {"replica-read-only no"});
  ReplicationMember& last_ = AddLinked(writable_);
};

TEST_F(WritableReplicaTest, ItsReplicasGetItsOwnWritesAfterItsPromotion) {
  TestClient client(writable_.server());
  EXPECT_THAT(client.Run("SET y 1"), Ok());
  const std::string old_id = writable_.history().id;
  const int64_t old_offset = writable_.history().offset;
  EXPECT_FALSE(PromoteAndContinue());
  EXPECT_NE(writable_.history().former_id, old_id);
  EXPECT_GT(writable_.history().offset, old_offset) << "elections prefer it to replicas of the old history";
  EXPECT_THAT(writable_.Log(), HasSubstr("There is no secondary ID, because this replica has changes of its own"));
  EXPECT_THAT(last_.Run("GET y"), Bulk("1"));
  EXPECT_THAT(client.Run("WAIT 1 0"), Int(1));
  EXPECT_THAT(client.Run("INCR y"), Int(2));
  network().Step(1000);
  EXPECT_THAT(last_.Run("GET y"), Bulk("2"));
}

TEST_F(WritableReplicaTest, WritesOfScriptsAndTransactionsCount) {
  for (const char* line : {"EVAL \"return redis.call('SET', 'y', 1)\" 0", "SET y 2"}) {
    TestClient client(writable_.server());
    client.Run("MULTI");
    client.Run(line);
    client.Run("EXEC");
    EXPECT_TRUE(writable_.history().has_local_writes) << line;
    writable_.server()->services().data.dataset.history.has_local_writes = false;
  }
}

// PFCOUNT stores a computed count, which is no change of the data.
TEST_F(WritableReplicaTest, OnlyWritesOfItsOwnClientsCount) {
  primary_.Run("PFADD p 1 2 3");
  primary_.Run("EVAL \"return redis.call('SET', 'z', 1)\" 0");
  network().Step(1000);
  writable_.Run("PFCOUNT p");
  writable_.Run("GET x");
  writable_.Run("DEL absent");
  primary_.Run("DEL p");
  network().Step(1000);
  EXPECT_FALSE(writable_.history().has_local_writes);
  EXPECT_TRUE(PromoteAndContinue());
}

TEST_F(WritableReplicaTest, AFullSynchronisationReplacesItsOwnWrites) {
  writable_.Run("SET y 1");
  ReplicationMember& other = world_.Add();
  writable_.Follow(other);
  network().Step(3000);
  ASSERT_TRUE(writable_.IsLinked());
  EXPECT_FALSE(writable_.history().has_local_writes);
}

// The primary removes its own keys when they expire.
TEST_F(WritableReplicaTest, AfterAFullSynchronisationItRemovesNoKeysOfItsPrimary) {
  writable_.Run("SET session local PX 3600000");
  ASSERT_TRUE(writable_.history().has_local_writes);
  primary_.Run("DEBUG CHANGE-REPL-ID");
  primary_.Run("CLIENT KILL TYPE replica");
  network().Step(3000);
  ASSERT_TRUE(writable_.IsLinked());
  ASSERT_FALSE(writable_.history().has_local_writes) << "it was no full synchronisation";
  primary_.Run("SET session v PX 1500");
  network().Step(100);
  network().SetApart(primary_.port(), writable_.port());
  network().Step(5000);
  EXPECT_THAT(writable_.Run("DBSIZE"), Int(2)) << "x and session";
}

// The file names the history, so the replica continues it.
TEST_F(WritableReplicaTest, ItsFileKeepsTheMark) {
  writable_.Run("SET y 1");
  EXPECT_THAT(writable_.Run("SAVE"), Ok());
  for (const bool is_replica : {true, false}) {
    writable_.Stop();
    writable_.Start(is_replica ? std::vector<std::string>{"replicaof 127.0.0.1 7001"} : std::vector<std::string>{});
    EXPECT_EQ(writable_.history().has_local_writes, is_replica);
    network().Step(3000);
    EXPECT_EQ(writable_.IsLinked(), is_replica);
    EXPECT_THAT(writable_.Run("GET y"), Bulk("1"));
  }
  network().Step(3000);
  EXPECT_TRUE(last_.IsLinked());
  EXPECT_EQ(Stat(writable_, "sync_partial_ok"), 0);
  EXPECT_THAT(last_.Run("GET y"), Bulk("1"));
}

// Its primary and the other replicas keep the keys.
TEST_F(WritableReplicaTest, EvictionOnAReplicaCounts) {
  writable_.Run("CONFIG SET replica-ignore-maxmemory no maxmemory-policy allkeys-random maxmemory 1");
  network().Step(1000);
  writable_.Run("CONFIG SET maxmemory 0");
  ASSERT_THAT(writable_.Run("DBSIZE"), Int(0));
  EXPECT_TRUE(writable_.history().has_local_writes);
  EXPECT_FALSE(PromoteAndContinue());
}

// Another replica of the writable one may lack the write.
TEST_F(WritableReplicaTest, AReplicaThatGotItsWritesHasTheMark) {
  writable_.Run("SET y 1");
  ReplicationMember& later = AddLinked(writable_);
  EXPECT_TRUE(later.history().has_local_writes);
  EXPECT_FALSE(last_.history().has_local_writes);
  later.Run("REPLICAOF NO ONE");
  last_.Follow(later);
  network().Step(3000);
  EXPECT_TRUE(last_.IsLinked());
  EXPECT_THAT(last_.Run("GET y"), Bulk("1"));
}

}  // namespace
}  // namespace respite
