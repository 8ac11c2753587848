// The state of a replica's data (History::data) in a cluster: what an operator, a reset and a change of shards do to
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "server/replication/replication.h"
#include "tests/support/cluster_pair.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;

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

// After a failover, a replica that was ahead of the promoted one has bytes that its new primary lacks. In elections,
// its offset counts only what both have, so a replica with writes of the new primary is preferred.
TEST_F(DataStateInClusterTest, TheOffsetOfASiblingCountsWhatTheNewPrimaryHadAsAReplica) {
  Random random(7);
  source_.Run("SET k 1");
  for (const int64_t had : {int64_t{0}, int64_t{20}, int64_t{1} << 40}) {
    Link();
    source_.Run("SET k 1");
    network().Step(1000);
    const int64_t offset = target_.history().offset;
    ASSERT_GT(offset, 20);
    EXPECT_EQ(target_.history().OffsetInElections(), offset);
    ClusterNode& promoted = View(target_).Add(NodeId::Draw(random), kNodePrimary);
    promoted.shard = View(target_).me().shard;
    promoted.replica_offset = had;
    promoted.offset = int64_t{1} << 50;
    promoted.address = {.ip = "127.0.0.1", .tcp_port = 1, .tls_port = 0, .bus_port = 10001};
    ClusterNode& old = *View(target_).me().primary;
    old.Set(kNodeFail);
    EXPECT_THAT(target_.Run("CLUSTER REPLICATE " + promoted.id.String()), Ok());
    EXPECT_EQ(target_.history().offset, offset);
    EXPECT_EQ(target_.history().OffsetInElections(), had == 0 ? offset - History::kMaxOffset : std::min(offset, had));
    old.Clear(kNodeFail);
  }
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
    if (is_sibling) old.Set(kNodeFail);
    other.address = {.ip = "127.0.0.1", .tcp_port = 1, .tls_port = 0, .bus_port = 10001};
    EXPECT_THAT(target_.Run("CLUSTER REPLICATE " + other.id.String()), Ok());
    EXPECT_EQ(target_.Info("replica_data"), is_sibling ? "unconfirmed" : "other");
    EXPECT_EQ(target_.Info("slave_priority"), is_sibling ? "1000000000" : "0");
    old.Clear(kNodeFail);
  }
  EXPECT_THAT(target_.Run("CLUSTER FAILOVER FORCE"), ErrorStartsWith("ERR I don't have the whole data of my master"));
  Link();
  EXPECT_TRUE(target_.history().IsWhole());
}

// A node that takes over the address of a failed primary makes this address unknown. A replica of that primary must not
// keep the link to its former one, and count as having all data.
TEST_F(DataStateInClusterTest, AReplicaOfAPrimaryWithoutAnAddressLeavesItsFormerPrimary) {
  source_.Run("SET k 1");
  Link();
  Random random(7);
  ClusterNode& other = View(target_).Add(NodeId::Draw(random), kNodePrimary);
  other.shard = other.id;
  other.Set(kNodeNoAddress);
  EXPECT_THAT(target_.Run("CLUSTER REPLICATE " + other.id.String()), Ok());
  network().Step(3000);
  EXPECT_FALSE(target_.IsLinked());
  EXPECT_EQ(target_.Info("replica_data"), "other");
  EXPECT_THAT(target_.Run("CLUSTER FAILOVER FORCE"), ErrorStartsWith("ERR I don't have the whole data of my master"));
  target_.Stop();
  target_.Start();
  EXPECT_EQ(target_.Info("role"), "slave");
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

// SHUTDOWN FAILOVER sends it to all replicas.
TEST_F(DataStateInClusterTest, ARequestToReplaceThePrimaryIsNoFailure) {
  Link();
  auto& plain = world_.Add();
  plain.Start({StrCat("replicaof 127.0.0.1 ", source_.port())});
  network().Step(1500);
  source_->services().replication.stream().AppendRequest({"CLUSTER", "FAILOVER", "FORCE", "REPLICAID", Id(source_)});
  network().Step(1500);
  EXPECT_TRUE(target_.IsLinked());
  EXPECT_TRUE(plain.IsLinked());
}

// CLUSTER RESET deletes the data of a replica, so another server must not continue the history here.
TEST_F(DataStateInClusterTest, AResetEndsTheHistory) {
  Link();
  source_.Run("SET bar 1");
  network().Step(1000);
  const std::string id = target_.history().id;
  EXPECT_THAT(target_.Run("CLUSTER RESET"), Ok());
  EXPECT_THAT(target_.Run("DBSIZE"), Int(0));
  EXPECT_EQ(target_.history().FindContinuation(id, 1), std::nullopt);
}

}  // namespace
}  // namespace respite
