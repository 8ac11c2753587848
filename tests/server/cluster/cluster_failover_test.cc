// Failovers in clusters of nodes in memory: elections, CLUSTER FAILOVER, and replicas that must not take over.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/cluster_world.h"

namespace respite {
namespace {

TEST(ClusterFailoverTest, AReplicaTakesThePlaceOfAFailedPrimary) {
  ClusterWorld world({.seed = 2});
  world.AddCluster(3, 1);
  world[0].Stop();
  ASSERT_TRUE(world.StepUntil([&] { return world[3].IsPrimary() && world.Agrees(); }, 20'000)) << world.Disagreement();
  EXPECT_EQ(world.OwnerFor(world[1], 0), 3);
  EXPECT_GE(world[3]->view().me().config_epoch, 4u);
  // The failed primary starts again, and follows its former replica.
  world[0].Start();
  ASSERT_TRUE(world.StepUntil([&] { return !world[0].IsPrimary() && world.Agrees(); }, 20'000)) << world.Disagreement();
  EXPECT_EQ(world[0]->view().me().primary->id, world[3].id());
}

TEST(ClusterFailoverTest, TheReplicaWithMoreDataIsElected) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ClusterWorld world({.seed = seed});
    world.AddCluster(3, 2);
    world.SetApart(0, 3);  // replica 3 receives nothing more from its primary
    world[0].offset = 1000;
    world.Step(500);
    EXPECT_EQ(world[4].offset, 1000);
    world[0].Stop();
    world.SetAllTogether();
    ASSERT_TRUE(world.StepUntil([&] { return world[3].IsPrimary() || world[4].IsPrimary(); }, 30'000));
    EXPECT_TRUE(world[4].IsPrimary()) << seed;
  }
}

// Its election would replace the data of the other replicas by an empty data set.
TEST(ClusterFailoverTest, AReplicaThatNeverHadTheDataIsNotElected) {
  ClusterWorld world({.seed = 20});
  world.AddCluster(3, 1);
  world[3].Stop();
  world.Step(1000);
  world[0].offset = 100;
  world.SetApart(0, 3);
  world[3].Start();
  world.Step(5000);
  world[0].Stop();
  world.Step(60'000);
  EXPECT_FALSE(world[3].IsPrimary());
  world.SetAllTogether();
  world[0].Start();
  ASSERT_TRUE(world.StepUntil([&] { return world.Agrees(); }, 20'000)) << world.Disagreement();
  EXPECT_TRUE(world[0].IsPrimary());
}

// Its primary may restart with the data, and would then follow a node that has none.
TEST(ClusterFailoverTest, AReplicaWithoutWholeDataIsElectedByNobodyButTakeover) {
  for (const int factor : {10, 0}) {
    ClusterWorld world(
        {.seed = 22, .adjust = [&](Settings& settings) { settings.cluster_replica_validity_factor = factor; }});
    world.AddCluster(3, 1);
    world[3].has_whole_data = false;
    world.Step(3000);
    EXPECT_TRUE(world[1].Find(world[3])->Is(kNodeNoFailover));
    world[0].Stop();
    world.Step(30'000);
    EXPECT_FALSE(world[3].IsPrimary()) << factor;
    world[3]->FailOver(Cluster::FailoverMode::kForce);
    world.Step(10'000);
    EXPECT_FALSE(world[3].IsPrimary()) << factor;
    world[3]->FailOver(Cluster::FailoverMode::kTakeOver);
    EXPECT_TRUE(world[3].IsPrimary());
    ASSERT_TRUE(world.StepUntil([&] { return world.OwnerFor(world[1], 0) == 3; }, 20'000));
    EXPECT_FALSE(world[3]->view().me().Is(kNodeNoFailover));
  }
}

// Equal offsets of two histories say nothing: after a restart with append-only files both nodes are at 0, however old
// the data of one is.
TEST(ClusterFailoverTest, AManualFailoverWaitsForTheLink) {
  ClusterWorld world({.seed = 25});
  world.AddCluster(3, 1);
  world[3].has_link = false;
  world[3].Stop();
  world[3].Start();
  world.Step(3000);
  ASSERT_EQ(world[3].offset, world[0].offset);
  world[3]->FailOver(Cluster::FailoverMode::kAsk);
  world.Step(10'000);
  EXPECT_FALSE(world[3].IsPrimary());
  EXPECT_FALSE(world[0].holds_writes);
  world[3].has_link = true;
  world.Step(1000);
  world[3]->FailOver(Cluster::FailoverMode::kAsk);
  EXPECT_TRUE(world.StepUntil([&] { return world[3].IsPrimary() && world.Agrees(); }, 10'000));
}

TEST(ClusterFailoverTest, AReplicaMayBeElectedOnceItsDataIsWhole) {
  ClusterWorld world({.seed = 23, .adjust = [](Settings& settings) { settings.cluster_replica_validity_factor = 0; }});
  world.AddCluster(3, 1);
  world[3].has_whole_data = false;
  world[0].Stop();
  world.Step(10'000);
  EXPECT_FALSE(world[3].IsPrimary());
  world[3].has_whole_data = true;
  EXPECT_TRUE(world.StepUntil([&] { return world[3].IsPrimary() && world.Agrees(); }, 20'000));
}

TEST(ClusterFailoverTest, AReplicaDoesNotWaitForOneWithoutWholeData) {
  ClusterWorld world({.seed = 24});
  world.AddCluster(3, 2);
  world[3].has_whole_data = false;
  world[3].offset = 1'000'000;
  world.Step(5000);
  world[0].Stop();
  ASSERT_TRUE(world.StepUntil([&] { return world[4].IsPrimary() || world[3].IsPrimary(); }, 20'000));
  EXPECT_TRUE(world[4].IsPrimary());
}

TEST(ClusterFailoverTest, AVoteThatCouldNotBeSavedIsNotGiven) {
  ClusterWorld world({.seed = 21});
  world.AddCluster(3, 1);
  for (int voter : {1, 2}) world[voter].fails_to_save = true;
  world[0].Stop();
  world.Step(10'000);
  EXPECT_FALSE(world[3].IsPrimary());
}

TEST(ClusterFailoverTest, AMinorityServesNobodyAndElectsNobody) {
  ClusterWorld world({.seed = 3});
  world.AddCluster(3, 1);
  world.Split({0, 3});
  world.Step(15'000);
  EXPECT_FALSE(world[0]->view().is_ok);
  EXPECT_FALSE(world[3].IsPrimary());
  EXPECT_FALSE(world[1]->view().is_ok);  // the slots of the other side have no reachable owner
  world.SetAllTogether();
  ASSERT_TRUE(world.StepUntil([&] { return world.Agrees(); }, 20'000)) << world.Disagreement();
  EXPECT_TRUE(world[0].IsPrimary());
}

TEST(ClusterFailoverTest, APrimaryInAMinorityIsReplacedAndFollows) {
  ClusterWorld world({.seed = 4});
  world.AddCluster(3, 1);
  world.Split({0});
  ASSERT_TRUE(world.StepUntil([&] { return world[3].IsPrimary(); }, 20'000));
  EXPECT_TRUE(world[0].IsPrimary());
  EXPECT_FALSE(world[0]->view().is_ok);
  world.SetAllTogether();
  ASSERT_TRUE(world.StepUntil([&] { return world.Agrees(); }, 20'000)) << world.Disagreement();
  EXPECT_FALSE(world[0].IsPrimary());
}

TEST(ClusterFailoverTest, ManualFailoverWaitsForTheOffset) {
  ClusterWorld world({.seed = 5});
  world.AddCluster(3, 1);
  world[0].offset = 500;
  world.Step(1000);
  world[0].offset = 700;
  world[3]->FailOver(Cluster::FailoverMode::kAsk);
  world.Step(10);
  EXPECT_TRUE(world[0].holds_writes);
  ASSERT_TRUE(world.StepUntil([&] { return world[3].IsPrimary() && world.Agrees(); }, 5000)) << world.Disagreement();
  EXPECT_EQ(world[3].offset, 700);
  EXPECT_FALSE(world[0].IsPrimary());
  EXPECT_FALSE(world[0].holds_writes);
}

// A script that is running may have written, and its writes are not part of the offset before it ends.
TEST(ClusterFailoverTest, AManualFailoverWaitsForALongTaskOfThePrimary) {
  ClusterWorld world({.seed = 26});
  world.AddCluster(3, 1);
  world[0].is_in_long_task = true;
  world[3]->FailOver(Cluster::FailoverMode::kAsk);
  world.Step(100);
  EXPECT_FALSE(world[0].holds_writes);
  world[0].offset += 100;
  const int64_t offset = world[0].offset;
  world[0].EndLongTask();
  EXPECT_TRUE(world[0].holds_writes);
  ASSERT_TRUE(world.StepUntil([&] { return world[3].IsPrimary() && world.Agrees(); }, 5000)) << world.Disagreement();
  EXPECT_EQ(world[3].offset, offset);
}

// Voters refuse another vote for a while after a failure's. If they did so here, the third node would not get a
// majority.
TEST(ClusterFailoverTest, ManualFailoversMayFollowOneAnotherAtOnce) {
  ClusterWorld world({.seed = 22});
  world.AddCluster(3, 1);
  for (const int next : {3, 0, 3, 0}) {
    world[next]->FailOver(Cluster::FailoverMode::kAsk);
    ASSERT_TRUE(world.StepUntil([&] { return world[next].IsPrimary() && world.Agrees(); }, 900))
        << world.Disagreement();
  }
}

TEST(ClusterFailoverTest, ManualFailoverTimesOut) {
  ClusterWorld world({.seed = 6});
  world.AddCluster(3, 1);
  world.SetApart(1, 3);
  world.SetApart(2, 3);
  world[3]->FailOver(Cluster::FailoverMode::kAsk);
  world.Step(1000);
  EXPECT_TRUE(world[0].holds_writes);
  world.Step(6000);
  EXPECT_FALSE(world[0].holds_writes);
  EXPECT_TRUE(world[0].IsPrimary());
}

TEST(ClusterFailoverTest, HowLongAManualFailoverMayTakeIsADirective) {
  ClusterWorld world({.seed = 6, .adjust = [](Settings& settings) { settings.cluster_manual_failover_timeout = 900; }});
  world.AddCluster(3, 1);
  world.SetApart(1, 3);
  world.SetApart(2, 3);
  world[3]->FailOver(Cluster::FailoverMode::kAsk);
  world.Step(500);
  EXPECT_TRUE(world[0].holds_writes);
  world.Step(1000);
  EXPECT_FALSE(world[0].holds_writes);
}

// The replica has requested votes, and they arrive late: after the primary has ended its pause and accepted writes.
TEST(ClusterFailoverTest, VotesForAManualFailoverDoNotCountAfterItsTimeout) {
  ClusterWorld world({.seed = 27});
  world.AddCluster(3, 1);
  for (const int voter : {1, 2}) world.SetApart(voter, 3, ClusterWorld::Direction::kOneWay);
  world[3]->FailOver(Cluster::FailoverMode::kAsk);
  world.Step(500);
  EXPECT_TRUE(world[0].holds_writes);
  world[3].is_frozen = true;
  world.Step(7000);
  EXPECT_FALSE(world[0].holds_writes);
  world[0].offset += 100;
  world.SetAllTogether();
  world[3].is_frozen = false;
  world.Step(3000);
  EXPECT_FALSE(world[3].IsPrimary());
  EXPECT_TRUE(world[0].IsPrimary());
}

// The primary may end its pause earlier than the replica gives up, if cluster-manual-failover-timeout differs.
TEST(ClusterFailoverTest, VotesForAManualFailoverDoNotCountAfterAWriteOfThePrimary) {
  ClusterWorld world({.seed = 28});
  world.AddCluster(3, 1);
  for (const int voter : {1, 2}) world.SetApart(voter, 3, ClusterWorld::Direction::kOneWay);
  world[3]->FailOver(Cluster::FailoverMode::kAsk);
  world.Step(500);
  world[0].offset += 100;
  world.Step(500);
  ASSERT_EQ(world[3].offset, world[0].offset);
  world.SetAllTogether();
  world.Step(3000);
  EXPECT_FALSE(world[3].IsPrimary());
}

TEST(ClusterFailoverTest, ForcedFailoverNeedsNoPrimary) {
  ClusterWorld world({.seed = 7, .adjust = [](Settings& settings) { settings.cluster_replica_no_failover = true; }});
  world.AddCluster(3, 1);
  world[0].Stop();
  world.Step(10'000);
  EXPECT_FALSE(world[3].IsPrimary());  // cluster-replica-no-failover
  world[3]->FailOver(Cluster::FailoverMode::kForce);
  ASSERT_TRUE(world.StepUntil([&] { return world[3].IsPrimary() && world.Agrees(); }, 5000)) << world.Disagreement();
}

// A primary that stops asks a replica to replace it. The replica may read this late.
TEST(ClusterFailoverTest, AReplicaReplacesAPrimaryThatStopsOnlyIfItIsGone) {
  constexpr auto kMode = Cluster::FailoverMode::kIfPrimaryIsGone;
  ClusterWorld world({.seed = 10, .node_timeout_ms = 15'000});
  world.AddCluster(3, 1);
  world[3]->FailOver(kMode);
  world.Step(10'000);
  EXPECT_FALSE(world[3].IsPrimary());
  world[0].Stop();
  world[3]->FailOver(kMode);
  world.Step(50);
  world[0].Start();  // before the replica has tried to connect
  world.Step(10'000);
  EXPECT_FALSE(world[3].IsPrimary());
  world[0].Stop();
  world[3]->FailOver(kMode);
  EXPECT_TRUE(world.StepUntil([&] { return world[3].IsPrimary(); }, 3000));
}

// The primary has started again meanwhile, has written to its other replica, and is gone again.
TEST(ClusterFailoverTest, AReplicaWithLessDataDoesNotReplaceAPrimaryThatStops) {
  ClusterWorld world({.seed = 12});
  world.AddCluster(3, 2);
  world.SetApart(0, 3);
  world[0].offset = 1000;
  world.Step(2000);
  world[0].Stop();
  world.SetAllTogether();
  world[3]->FailOver(Cluster::FailoverMode::kIfPrimaryIsGone);
  ASSERT_TRUE(world.StepUntil([&] { return world[3].IsPrimary() || world[4].IsPrimary(); }, 30'000));
  EXPECT_TRUE(world[4].IsPrimary());
}

// The votes arrive while the replica stands still. Meanwhile the primary has ended and started again.
TEST(ClusterFailoverTest, VotesForAManualFailoverDoNotCountAfterTheLinkHasEnded) {
  ClusterWorld world({.seed = 29});
  world.AddCluster(3, 1);
  for (const int voter : {1, 2}) world.SetApart(voter, 3, ClusterWorld::Direction::kOneWay);
  world[3]->FailOver(Cluster::FailoverMode::kAsk);
  world.Step(500);
  world[3].has_link = false;
  world.SetAllTogether();
  world.Step(3000);
  EXPECT_FALSE(world[3].IsPrimary());
}

// The primary starts from old files, and says that it follows a replica that lags behind another one.
TEST(ClusterFailoverTest, AReplicaWithLessDataDoesNotTakeOverFromAPrimaryThatFollowsIt) {
  ClusterWorld world({.seed = 13});
  world.AddCluster(3, 2);
  const std::string old_file = world[3].file();
  world[3]->FailOver(Cluster::FailoverMode::kAsk);
  ASSERT_TRUE(world.StepUntil([&] { return world[0].IsLinkedTo(world[3]) && world[4].IsLinkedTo(world[3]); }, 20'000));
  world.SetApart(0, 3);
  world[3].offset = 1000;
  world.Step(1000);
  world[3].Stop();
  world.SetAllTogether();
  world[3].SetFile(old_file);
  world[3].has_link = world[0].has_link = world[4].has_link = false;
  world[3].Start();
  world.Step(10'000);
  EXPECT_FALSE(world[0].IsPrimary());
}

// The primary may have been replaced and elected again while the replica was cut off.
TEST(ClusterFailoverTest, AReplicaWithoutALinkNoticesThatTheEpochOfItsPrimaryHasGrown) {
  for (const bool is_linked : {false, true}) {
    ClusterWorld world({.seed = 15});
    world.AddCluster(3, 1);
    world.Step(3000);
    world[3].has_link = is_linked;
    world.Step(3000);
    EXPECT_EQ(world[3].new_epochs_of_primary, 0);
    EXPECT_TRUE(world[0]->BumpEpoch());
    world.Step(3000);
    EXPECT_EQ(world[3].new_epochs_of_primary, is_linked ? 0 : 1);
  }
}

// A process whose timer is always late wins an election all the same.
TEST(ClusterFailoverTest, ASlowReplicaIsElected) {
  ClusterWorld world({.seed = 14});
  world.AddCluster(3, 1);
  world[0].Stop();
  for (int i = 0; i < 40 && !world[3].IsPrimary(); ++i) {
    world[3].is_frozen = true;
    world.Step(700);
    world[3].is_frozen = false;
    world.Step(100);
  }
  EXPECT_TRUE(world[3].IsPrimary());
}

// The task may remove the data, and the promotion would wait for its end.
TEST(ClusterFailoverTest, AReplicaIsNotElectedDuringALongTask) {
  ClusterWorld world({.seed = 11});
  world.AddCluster(3, 1);
  world[3].is_in_long_task = true;
  world[0].Stop();
  world.Step(8000);
  EXPECT_EQ(world.OwnerFor(world[3], 0), 0);
  world[3].has_whole_data = false;
  world[3].EndLongTask();
  world.Step(8000);
  EXPECT_EQ(world[3].promotions, 0);
  world[3].has_whole_data = true;
  EXPECT_TRUE(world.StepUntil([&] { return world[3].IsPrimary(); }, 30'000));
}

// After a failover, the new primary starts again with the files of the time when it was a replica.
TEST(ClusterFailoverTest, ANodeWithOldFilesDoesNotTakeOverFromTheReplicaWithTheData) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ClusterWorld world({.seed = seed});
    world.AddCluster(3, 1);
    const std::string old_file = world[3].file();
    world[3]->FailOver(Cluster::FailoverMode::kAsk);
    ASSERT_TRUE(world.StepUntil([&] { return world[0].IsLinkedTo(world[3]); }, 20'000));
    world[3].Stop();
    world[3].SetFile(old_file);
    world[3].has_link = false;  // a replica of it refuses it as a replica
    world[3].Start();
    ASSERT_TRUE(world.StepUntil([&] { return world[0].IsPrimary(); }, 20'000)) << seed;
    EXPECT_FALSE(world[3].IsPrimary()) << seed;
    EXPECT_EQ(world[3].promotions, 1) << seed;
  }
}

TEST(ClusterFailoverTest, TakeoverAsksNobody) {
  ClusterWorld world({.seed = 8});
  world.AddCluster(3, 1);
  world[1].Stop();
  world[2].Stop();
  world[0].Stop();
  world[3]->FailOver(Cluster::FailoverMode::kTakeOver);
  EXPECT_TRUE(world[3].IsPrimary());
  for (int i = 0; i < 3; ++i) world[i].Start();
  ASSERT_TRUE(world.StepUntil([&] { return world.Agrees(); }, 20'000)) << world.Disagreement();
  EXPECT_EQ(world.OwnerFor(world[1], 0), 3);
}

}  // namespace
}  // namespace respite
