// Clusters under random faults: links break; nodes are cut off (also in one direction only), hang, end, start from an
// old nodes.conf, or have a wrong clock; epochs collide, and slots are claimed twice. After all faults end, all nodes
// agree on one owner of each slot.
//
// RESPITE_CLUSTER_FAULTS sets the number of runs. RESPITE_CLUSTER_SEED repeats the run with this seed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/str_cat.h"
#include "server/cluster/nodes_text.h"
#include "tests/support/cluster_world.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

constexpr int kRounds = 20;
constexpr int64_t kPatienceMs = 120'000;
constexpr int64_t kHourMs = 3'600'000;

class FaultyLife {
 public:
  FaultyLife(uint64_t seed, int most_primaries) : random_(seed), world_({.seed = seed, .node_timeout_ms = 1000}) {
    may_set_back_ = Below(2) == 0;
    const int primaries = 3 + Below(most_primaries - 2);
    world_.AddCluster(primaries, Below(3));
    old_files_.resize(static_cast<size_t>(world_.Count()));
  }

  void Run() {
    for (int round = 0; round < kRounds; ++round) {
      Act();
      world_.Step(Below(6000));
    }
    world_.SetAllTogether();
    for (int i = 0; i < world_.Count(); ++i) {
      world_[i].is_frozen = false;
      world_[i].Start();
    }
    using About = ClusterWorld::About;
    const About about = was_set_back_ ? About::kOwners : About::kEpochs;
    ASSERT_TRUE(world_.StepUntil([&] { return world_.Agrees(about); }, kPatienceMs))
        << world_.Disagreement(about) << Files();
  }

 private:
  // The nodes.conf of every node.
  std::string Files() {
    std::string text;
    for (int i = 0; i < world_.Count(); ++i)
      StrAppend(text, "\n-- node ", i, "\n", NodesFileText(world_[i]->view(), PortChoice::kTcp));
    return text;
  }
  int Below(int limit) { return limit <= 0 ? 0 : static_cast<int>(random_.Below(static_cast<uint64_t>(limit))); }
  int Some() { return Below(world_.Count()); }
  std::string& OldFileOf(int index) { return old_files_[static_cast<size_t>(index)]; }

  void Act() {
    const int one = Some();
    const int other = Some();
    switch (Below(14)) {
      case 0:
        return world_[one].Stop();
      case 1:
        return StartAll();
      case 2:
        if (one != other) world_.SetApart(one, other, ClusterWorld::Direction::kOneWay);
        return;
      case 3:
        return world_.Split({one, other, Some()});
      case 4:
      case 5:
        return world_.SetAllTogether();
      case 6:
        return world_.BreakLinks(one, other);
      case 7:
        world_[one].is_frozen = !world_[one].is_frozen;
        return;
      case 8:
        OldFileOf(one) = world_[one].file();
        return;
      case 9:
        if (may_set_back_) StartFromOldFile(one);
        return;
      case 10:
        return StartWithWrongClock(one);
      case 11:
        if (world_[one].Runs() && world_[other].Runs()) Collide(one, other);
        return;
      case 12:
        return ClaimTwice(one, other);
      default:
        if (world_[one].Runs() && !world_[one].IsPrimary()) world_[one]->FailOver(FailoverMode());
    }
  }

  void StartAll() {
    for (int i = 0; i < world_.Count(); ++i) world_[i].Start();
  }
  // Starts the node from a nodes.conf that it wrote earlier.
  void StartFromOldFile(int index) {
    if (OldFileOf(index).empty()) return;
    was_set_back_ = true;
    world_[index].Stop();
    world_[index].SetFile(OldFileOf(index));
    world_[index].Start();
  }
  void StartWithWrongClock(int index) {
    world_[index].Stop();
    world_[index].wall_error_ms = (Below(2) == 0 ? -1 : 1) * static_cast<int64_t>(1 + Below(48)) * kHourMs;
    world_[index].Start();
  }
  void Collide(int one, int other) {
    if (!world_[one].IsPrimary() || !world_[other].IsPrimary()) return;
    const uint64_t epoch = world_[other]->view().me().config_epoch;
    if (epoch > world_[one]->view().me().config_epoch) world_[one]->SetEpoch(epoch);
  }
  // Sends CLUSTER SETSLOT NODE to two nodes, each of which claims the slot for itself.
  void ClaimTwice(int one, int other) {
    const int slot = Below(kSlotCount);
    for (const int claimer : {one, other}) {
      if (!world_[claimer].Runs() || !world_[claimer].IsPrimary()) continue;
      Cluster& node = *world_[claimer];
      ClusterNode* const owner = node.view().Owner(slot);
      if (owner == nullptr || owner == &node.view().me()) continue;
      node.view().SetImporting(slot, owner);
      node.GiveSlot(slot, node.view().me());
    }
  }
  Cluster::FailoverMode FailoverMode() {
    using Mode = Cluster::FailoverMode;
    constexpr Mode kModes[] = {Mode::kAsk, Mode::kForce, Mode::kTakeOver, Mode::kIfPrimaryIsGone};
    return kModes[Below(4)];
  }

  Random random_;
  ClusterWorld world_;
  std::vector<std::string> old_files_;
  bool may_set_back_ = false;
  bool was_set_back_ = false;  // a node has started from an old file
};

void RunLives(uint64_t lives, int most_primaries) {
  const uint64_t first = NumberFromEnvironment("RESPITE_CLUSTER_SEED", 100);
  for (uint64_t seed = first; seed < first + lives; ++seed) {
    SCOPED_TRACE(StrCat("RESPITE_CLUSTER_SEED=", seed));
    FaultyLife(seed, most_primaries).Run();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ClusterFaultsTest, SmallClustersAgreeInTheEnd) {
  RunLives(NumberFromEnvironment("RESPITE_CLUSTER_FAULTS", 40), 6);
}

TEST(ClusterFaultsTest, LargeClustersAgreeInTheEnd) {
  RunLives(NumberFromEnvironment("RESPITE_CLUSTER_FAULTS", 40) / 20, 16);
}

}  // namespace
}  // namespace respite
