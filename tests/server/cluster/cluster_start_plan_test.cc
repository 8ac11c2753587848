// Nodes that start together: the first view of a new cluster, and how an existing cluster adopts new addresses.
#include "server/cluster/cluster_start_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace respite {
namespace {

using testing::HasSubstr;

constexpr NodeLayout kLayout{3, 1};

std::vector<ClusterStartPlan::Member> MembersAt(int first_port) {
  std::vector<ClusterStartPlan::Member> members;
  for (int i = 0; i < kLayout.Count(); ++i) {
    const auto port = static_cast<uint16_t>(first_port + i);
    members.push_back({{"127.0.0.1", port, 0, static_cast<uint16_t>(port + 10000)}, ""});
  }
  return members;
}

ClusterStartPlan Plan(const std::vector<ClusterStartPlan::Member>& members) {
  Random random(7);
  auto start = ClusterStartPlan::Plan(kLayout, members, PortChoice::kTcp, random);
  EXPECT_TRUE(start.ok()) << (start.ok() ? "" : start.error());
  return start.ok() ? std::move(start).value() : ClusterStartPlan{};
}

std::string JointRefusal(const std::vector<ClusterStartPlan::Member>& members) {
  Random random(7);
  auto start = ClusterStartPlan::Plan(kLayout, members, PortChoice::kTcp, random);
  return start.ok() ? "" : start.error();
}

std::unique_ptr<ClusterView> Read(const std::string& text) {
  Random random(9);
  auto view = ParseNodesFile(text, PortChoice::kTcp, random);
  EXPECT_TRUE(view.ok()) << text;
  return std::move(view).value();
}

TEST(JointStartTest, NodesOfANewClusterAgree) {
  const ClusterStartPlan start = Plan(MembersAt(7001));
  EXPECT_TRUE(start.is_new);
  EXPECT_TRUE(start.members_agree);
  ASSERT_EQ(start.texts.size(), 6u);
  std::vector<std::unique_ptr<ClusterView>> views;
  for (const std::string& text : start.texts) views.push_back(Read(text));
  for (size_t i = 0; i < views.size(); ++i) {
    ClusterView& view = *views[i];
    EXPECT_EQ(view.KnownNodeCount(), 6u);
    EXPECT_EQ(view.Size(), 3);
    EXPECT_EQ(view.current_epoch, 3u);
    EXPECT_EQ(view.me().address.tcp_port, 7001 + i);
    EXPECT_EQ(view.me().address.bus_port, 17001 + i);
    for (size_t other = 0; other < views.size(); ++other) {
      const ClusterNode* node = view.Find(views[other]->me().id);
      ASSERT_NE(node, nullptr);
      EXPECT_EQ(node->shard, views[other]->me().shard);
      EXPECT_EQ(node->IsPrimary(), other < 3);
      if (other < 3) {
        EXPECT_EQ(node->config_epoch, other + 1);
        EXPECT_EQ(view.Owner(kLayout.FirstSlot(static_cast<int>(other))), node);
        EXPECT_EQ(view.Owner(kLayout.LastSlot(static_cast<int>(other))), node);
      } else {
        EXPECT_EQ(node->primary->id, views[other - 3]->me().id);
        EXPECT_EQ(node->shard, node->primary->shard);
      }
    }
  }
}

TEST(JointStartTest, AnOldClusterLearnsItsNewAddresses) {
  const ClusterStartPlan first = Plan(MembersAt(7001));
  auto members = MembersAt(8001);
  for (size_t i = 0; i < members.size(); ++i) members[i].text = first.texts[i];
  const ClusterStartPlan again = Plan(members);
  EXPECT_FALSE(again.is_new);
  EXPECT_TRUE(again.members_agree);
  for (size_t i = 0; i < members.size(); ++i) {
    const auto before = Read(first.texts[i]);
    const auto after = Read(again.texts[i]);
    EXPECT_EQ(after->me().id, before->me().id);
    EXPECT_EQ(after->current_epoch, before->current_epoch);
    EXPECT_THAT(again.texts[i], testing::Not(HasSubstr(":700")));
    for (const auto& [id, node] : after->nodes()) {
      EXPECT_GE(node->address.tcp_port, 8001);
      EXPECT_EQ(node->address.bus_port, node->address.tcp_port + 10000);
    }
  }
}

TEST(JointStartTest, WhoSawAFailoverDisagreesWithWhoDidNot) {
  const ClusterStartPlan first = Plan(MembersAt(7001));
  auto members = MembersAt(7001);
  for (size_t i = 0; i < members.size(); ++i) members[i].text = first.texts[i];
  auto view = Read(first.texts[1]);
  view->me().config_epoch = 9;
  members[1].text = NodesFileText(*view, PortChoice::kTcp);
  EXPECT_FALSE(Plan(members).members_agree);
}

TEST(JointStartTest, ANodeThatLivesElsewhereMayKnowMore) {
  const ClusterStartPlan first = Plan(MembersAt(7001));
  auto members = MembersAt(7001);
  for (size_t i = 0; i < members.size(); ++i) {
    auto view = Read(first.texts[i]);
    ClusterNode& other = view->Add(*NodeId::Parse(std::string(40, 'a')), kNodePrimary);
    other.shard = *NodeId::Parse(std::string(40, 'b'));
    other.address = {"10.0.0.1", 7000, 0, 17000};
    members[i].text = NodesFileText(*view, PortChoice::kTcp);
  }
  EXPECT_FALSE(Plan(members).members_agree);
}

TEST(JointStartTest, RefusesFilesThatDoNotBelongTogether) {
  const ClusterStartPlan first = Plan(MembersAt(7001));
  auto members = MembersAt(7001);
  members[0].text = first.texts[0];
  EXPECT_THAT(JointRefusal(members), HasSubstr("node-2 has no nodes.conf, but others"));
  for (size_t i = 0; i < members.size(); ++i) members[i].text = first.texts[i];
  members[4].text = first.texts[0];
  EXPECT_THAT(JointRefusal(members), HasSubstr("node-5 has the nodes.conf of another node"));
  members[4].text = "nonsense";
  EXPECT_THAT(JointRefusal(members), HasSubstr("node-5: Unrecoverable error: corrupted cluster config file"));
}

}  // namespace
}  // namespace respite
