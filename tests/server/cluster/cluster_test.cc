// Clusters of nodes in memory: they meet, agree, fail and recover.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>

#include "base/str_cat.h"
#include "tests/support/cluster_world.h"

namespace respite {
namespace {

TEST(ClusterTest, ThreeNodesMeetAndAgree) {
  ClusterWorld world({.seed = 1});
  world.AddCluster(3, 0);
  EXPECT_EQ(world.Disagreement(), "");
  EXPECT_EQ(world.OwnerFor(world[2], 0), 0);
  EXPECT_EQ(world.OwnerFor(world[0], 16383), 2);
}

// A node learned from gossip has its own shard at first, and may get a replica before it reports its true shard.
TEST(ClusterTest, ReplicasAreInTheShardOfTheirPrimary) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    ClusterWorld world({.seed = seed});
    world.AddCluster(3, 1);
    world.Step(4000);
    for (int primary = 0; primary < 3; ++primary) {
      const NodeId shard = world[primary]->view().me().shard;
      for (int i = 0; i < world.Count(); ++i) {
        EXPECT_EQ(world[i].Find(world[primary])->shard, shard) << seed;
        EXPECT_EQ(world[i].Find(world[primary + 3])->shard, shard) << seed;
      }
    }
  }
}

TEST(ClusterTest, PrimariesWithTheSameEpochResolveIt) {
  ClusterWorld world({.seed = 9});
  world.AddCluster(3, 0);
  world[0]->SetEpoch(9);
  world[1]->SetEpoch(9);
  world[2]->SetEpoch(9);
  ASSERT_TRUE(world.StepUntil(
      [&] {
        std::set<uint64_t> epochs;
        for (int i = 0; i < 3; ++i) epochs.insert(world[i]->view().me().config_epoch);
        return epochs.size() == 3 && world.Agrees();
      },
      20'000))
      << world.Disagreement();
}

TEST(ClusterTest, AnOrphanedPrimaryGetsASpareReplica) {
  ClusterWorld world({.seed = 10});
  world.AddCluster(3, 2);  // replicas: 3 and 4 of node 0, 5 and 6 of node 1, 7 and 8 of node 2
  world[5].Stop();
  world[6].Stop();
  const auto has_one = [&] {
    const ClusterNode* node = world[0].Find(world[1]);
    return node->WorkingReplicaCount() == 1;
  };
  EXPECT_TRUE(world.StepUntil(has_one, 30'000));
}

// Redis counts siblings that must not be elected, so the last replica that could replace its primary may leave.
TEST(ClusterTest, TheLastReplicaThatMayBeElectedDoesNotMigrate) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    ClusterWorld world({.seed = seed});
    world.AddCluster(3, 2);
    world[3].settings().cluster_replica_no_failover = true;
    ASSERT_TRUE(world.StepUntil([&] { return world[4].Find(world[3])->Is(kNodeNoFailover); }, 10'000)) << seed;
    for (const int replica : {5, 6, 7}) world[replica].Stop();  // node 1 has no replica, and node 2 cannot spare one
    world.Step(30'000);
    ASSERT_TRUE(world[0].Find(world[5])->Is(kNodeFail)) << seed;
    EXPECT_EQ(world[4]->view().me().primary->id, world[0].id()) << seed;
  }
}

// Its sibling would be elected without the last writes.
TEST(ClusterTest, AReplicaWithMoreDataThanItsSiblingDoesNotMigrate) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    ClusterWorld world({.seed = seed});
    world.AddCluster(3, 2);
    world[4].has_link = false;
    world[0].offset = 1000;
    world.Step(2000);
    ASSERT_EQ(world[3].offset, 1000);
    for (const int replica : {5, 6, 7}) world[replica].Stop();  // node 1 has no replica, and node 2 cannot spare one
    world.Step(30'000);
    EXPECT_EQ(world[3]->view().me().primary->id, world[0].id()) << seed;
    world[4].has_link = true;
    EXPECT_TRUE(world.StepUntil([&] { return world[0].Find(world[1])->WorkingReplicaCount() == 1; }, 40'000)) << seed;
  }
}

// If the replica with the smallest ID must stay, another one moves.
TEST(ClusterTest, AReplicaThatMustStayDoesNotKeepOthersFromMigrating) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    ClusterWorld world({.seed = seed});
    world.AddCluster(3, 2);
    world[3].settings().cluster_replica_no_failover = true;
    ASSERT_TRUE(world.StepUntil([&] { return world[7].Find(world[3])->Is(kNodeNoFailover); }, 10'000)) << seed;
    world[5].Stop();
    world[6].Stop();
    EXPECT_TRUE(world.StepUntil([&] { return world[0].Find(world[1])->WorkingReplicaCount() == 1; }, 40'000)) << seed;
    EXPECT_EQ(world[4]->view().me().primary->id, world[0].id()) << seed;
  }
}

TEST(ClusterTest, AForgottenNodeStaysAwayForAMinute) {
  ClusterWorld world({.seed = 11});
  world.AddCluster(3, 1);
  world[3].Stop();
  for (int i = 0; i < 3; ++i) world[i]->Forget(*world[i].Find(world[3]));
  world.Step(10'000);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(world[i].Find(world[3]), nullptr);
}

// A node adopts the nodes that others of the cluster name, but their number is limited.
TEST(ClusterTest, NodesThatOthersNameAreLimited) {
  constexpr size_t kMax = 10'000;
  ClusterWorld world({.seed = 1});
  world.AddKnownCluster(2, 0);
  ClusterView& full = world[0]->view();
  Random random(2);  // the world has drawn the ids of its nodes with seed 1, and no id may be added twice
  while (full.KnownNodeCount() < kMax - 5) full.Add(NodeId::Draw(random), kNodePrimary | kNodeNoAddress);
  for (int i = 1; i <= 20; ++i) {  // a PING names all nodes in PFAIL
    ClusterNode& node = world[1]->view().Add(NodeId::Draw(random), kNodePrimary | kNodePfail);
    node.address = {.ip = StrCat("10.1.0.", i), .tcp_port = 7000, .tls_port = 0, .bus_port = 17000};
  }
  EXPECT_TRUE(world.StepUntil([&] { return full.KnownNodeCount() == kMax; }, 10'000));
  world.Step(3000);
  EXPECT_EQ(full.KnownNodeCount(), kMax);
}

TEST(ClusterTest, HowLongANodeIsForgottenIsADirective) {
  ClusterWorld world({.seed = 11, .adjust = [](Settings& settings) { settings.cluster_blacklist_ttl = 5; }});
  world.AddCluster(3, 1);
  const NodeId gone = world[3].id();
  world[0]->Forget(*world[0].Find(world[3]));
  world.Step(2'000);
  EXPECT_TRUE(world[0]->HasForgotten(gone));
  EXPECT_TRUE(world[1]->HasForgotten(gone)) << "it heard of it";
  world.Step(6'000);
  EXPECT_FALSE(world[0]->HasForgotten(gone));
  EXPECT_FALSE(world[1]->HasForgotten(gone));
}

// From version 7.2 on, FORGET at one node is enough: PINGs spread it.
TEST(ClusterTest, ForgettingSpreads) {
  ClusterWorld world({.seed = 12});
  world.AddCluster(3, 0);
  ClusterWorld::Member& fourth = world.Add();
  world.Meet(world[0], fourth);
  ASSERT_TRUE(world.StepUntil([&] { return world[2].Find(fourth) != nullptr && world.Agrees(); }, 20'000));
  world[0]->Forget(*world[0].Find(fourth));
  world.Step(3000);
  EXPECT_EQ(world[1].Find(fourth), nullptr);
  EXPECT_EQ(world[2].Find(fourth), nullptr);
}

TEST(ClusterTest, ANodeThatWasResetIsAloneAndNew) {
  ClusterWorld world({.seed = 13});
  world.AddCluster(3, 1);
  const NodeId before = world[3].id();
  world[3]->Reset(Cluster::ResetMode::kHard);
  EXPECT_NE(world[3]->view().me().id, before);
  EXPECT_EQ(world[3]->view().All().size(), 1u);
  EXPECT_TRUE(world[3].IsPrimary());
}

TEST(ClusterTest, ASlotMovesWithSetSlotNode) {
  ClusterWorld world({.seed = 14});
  world.AddCluster(3, 0);
  world[1]->view().SetImporting(0, world[1].Find(world[0]));
  world[0]->view().SetMigrating(0, world[0].Find(world[1]));
  world[1]->GiveSlot(0, world[1]->view().me());
  world[0]->GiveSlot(0, *world[0].Find(world[1]));
  EXPECT_EQ(world[0]->view().MigratingTo(0), nullptr);
  ASSERT_TRUE(world.StepUntil([&] { return world.Agrees(); }, 10'000)) << world.Disagreement();
  EXPECT_EQ(world.OwnerFor(world[2], 0), 1);
}

// The source of a slot's move fails: its replica also takes its place in the move.
TEST(ClusterTest, AMoveSurvivesAFailoverOfItsSource) {
  ClusterWorld world({.seed = 19});
  world.AddCluster(3, 1);
  world.Step(5000);
  world[1]->view().SetImporting(0, world[1].Find(world[0]));
  world[0]->view().SetMigrating(0, world[0].Find(world[1]));
  world[0].Stop();
  ASSERT_TRUE(world.StepUntil([&] { return world[3].IsPrimary() && world.Agrees(); }, 20'000)) << world.Disagreement();
  world[0].Start();
  ASSERT_TRUE(world.StepUntil([&] { return !world[0].IsPrimary() && world.Agrees(); }, 20'000)) << world.Disagreement();
  EXPECT_EQ(world[1]->view().ImportingFrom(0)->id, world[3].id());
  EXPECT_EQ(world.OwnerFor(world[1], 0), 3);
}

TEST(ClusterTest, MessagesReachAllNodesOrThoseOfTheShard) {
  ClusterWorld world({.seed = 15});
  world.AddCluster(3, 1);
  world[0]->Publish(PacketType::kPublish, "c", "m");
  world[0]->Publish(PacketType::kPublishShard, "s", "m");
  world.Step(100);
  EXPECT_EQ(world[1].delivered.size(), 1u);
  ASSERT_EQ(world[3].delivered.size(), 2u);
  EXPECT_EQ(world[3].delivered[1].channel, "s");
}

std::string Greeting() {
  std::ifstream file(RESPITE_SOURCE_DIR "/tests/golden/cluster/ping_2344.packet", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The answer to a greeting has the id that another handshake uses temporarily.
TEST(ClusterTest, AnIdOfAnotherHandshakeIsNotTaken) {
  ClusterWorld world({.seed = 23});
  world.AddCluster(3, 0);
  ClusterWorld::Member& silent = world.Add();
  ClusterWorld::Member& liar = world.Add();
  silent.is_frozen = true;
  liar.Stop();
  world.Meet(world[0], silent);
  world.Meet(world[0], liar);
  std::string id;
  for (const ClusterNode* node : world[0]->view().All()) {
    if (node->Is(kNodeHandshake) && node->address.tcp_port == 7003) id = node->id.String();
  }
  ASSERT_NE(id, "");
  liar.SetFile(id + " 127.0.0.1:7004@17004 myself,master - 0 0 0 connected\nvars currentEpoch 0 lastVoteEpoch 0\n");
  liar.Start();
  world.Step(10'000);
  EXPECT_EQ(world[0]->view().All().size(), world[0]->view().nodes().size());
}

TEST(ClusterTest, NamesThatCannotBeWrittenDownAreNotBelieved) {
  ClusterWorld world({.seed = 24});
  world.AddCluster(3, 0);
  world[1].settings().cluster_announce_human_nodename = "a b\nc";
  world[2].settings().cluster_announce_human_nodename = "plain";
  for (int i : {1, 2}) world[i]->ApplySettings();
  world.Step(5000);
  EXPECT_EQ(world[0].Find(world[1])->human_name, "");
  EXPECT_EQ(world[0].Find(world[2])->human_name, "plain");
}

// The memory that a stranger can cost a node is limited.
class Stranger final : public Link::User {
 public:
  explicit Stranger(ClusterWorld& world) : link(world.ConnectAsUnknownNode(0, *this)) { world.Step(10); }
  void OnConnected() override {}
  void OnReceived(Bytes bytes) override { received += bytes.size(); }
  void OnEnded(const std::string&) override { is_over = true; }

  size_t received = 0;
  bool is_over = false;
  std::unique_ptr<Link> link;
};

TEST(ClusterTest, AStrangerGetsAnAnswer) {
  ClusterWorld world({.seed = 16});
  world.AddCluster(3, 0);
  Stranger stranger(world);
  stranger.link->Send(Greeting());
  world.Step(10);
  EXPECT_GT(stranger.received, BusPacket::kHeaderBytes);
  EXPECT_EQ(world[0]->view().All().size(), 3u);
  EXPECT_FALSE(stranger.is_over);
}

TEST(ClusterTest, AStrangerDoesNotStay) {
  ClusterWorld world({.seed = 25});
  world.AddCluster(3, 0);
  Stranger stranger(world);
  world.Step(20'000);
  EXPECT_TRUE(stranger.is_over);
  EXPECT_TRUE(world.Agrees());
}

TEST(ClusterTest, ThereAreOnlySoManyStrangers) {
  ClusterWorld world({.seed = 26});
  world.AddCluster(3, 0);
  std::deque<Stranger> strangers;
  for (int i = 0; i < 1010; ++i) strangers.emplace_back(world);
  world.Step(100);
  EXPECT_EQ(std::ranges::count_if(strangers, [](const Stranger& one) { return one.is_over; }), 10);
}

// The address that the stranger announces is not an IP address.
TEST(ClusterTest, AStrangerIsNotLookedUpByName) {
  ClusterWorld world({.seed = 22});
  world.AddCluster(3, 0);
  Stranger stranger(world);
  std::string packet = Greeting();
  packet[13] = static_cast<char>(PacketType::kMeet);
  packet.replace(2168, 11, "example.org");
  stranger.link->Send(packet);
  world.Step(10);
  EXPECT_EQ(world[0]->view().All().size(), 3u);
}

TEST(ClusterTest, AStrangerMayNotAnnounceALongPacket) {
  ClusterWorld world({.seed = 17});
  world.AddCluster(3, 0);
  Stranger stranger(world);
  std::string packet = Greeting();
  packet[4] = 0x3f;  // first byte of the length
  stranger.link->Send(packet);
  world.Step(10);
  EXPECT_TRUE(stranger.is_over);
}

TEST(ClusterTest, AStrangerWhoDoesNotReadIsDropped) {
  ClusterWorld world({.seed = 18});
  world.AddCluster(3, 0);
  Stranger stranger(world);
  world.SetApart(0, ClusterWorld::kStranger, ClusterWorld::Direction::kOneWay);
  for (int i = 0; i < 1000; ++i) stranger.link->Send(Greeting());
  world.Step(1000);
  world.SetAllTogether();
  world.Step(1000);
  EXPECT_TRUE(stranger.is_over);
}

// Half of many nodes are cut off. After the partition heals, each node needs a few timeouts to agree.
// RESPITE_CLUSTER_NODES=1000 shows this for a thousand nodes.
TEST(ClusterTest, ManyNodesAgreeAfterAPartition) {
  const char* const wanted = std::getenv("RESPITE_CLUSTER_NODES");
  const int nodes = wanted == nullptr ? 40 : std::stoi(wanted);
  ClusterWorld world({.seed = 77, .node_timeout_ms = 5000});
  world.AddCluster(nodes / 2, 1);
  std::set<int> island;
  for (int i = 0; i < nodes; i += 2) island.insert(i);
  world.Split(island);
  world.Step(15'000);
  EXPECT_FALSE(world.Agrees());
  const int64_t healed_ms = world.NowMs();
  const uint64_t messages = world.MessagesDelivered();
  world.SetAllTogether();
  ASSERT_TRUE(world.StepUntil([&] { return world.Agrees(); }, 60'000)) << world.Disagreement();
  RecordProperty("agreed_after_ms", std::to_string(world.NowMs() - healed_ms));
  RecordProperty("messages", std::to_string(world.MessagesDelivered() - messages));
  EXPECT_LT(world.NowMs() - healed_ms, 40'000);
}

}  // namespace
}  // namespace respite
