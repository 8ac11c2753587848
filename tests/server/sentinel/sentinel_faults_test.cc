// Sentinels whose network, processes and servers fail at random: no epoch ever names two primaries, and all agree after
// the faults end.
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "tests/support/sentinel_world.h"

namespace respite {
namespace {

constexpr int64_t kSettleMs = 60'000;
constexpr int64_t kHealMs = 300'000;

class Faults {
 public:
  explicit Faults(const SentinelWorld::Options& options) : world_(options) {}

  void Run(int faults) {
    ASSERT_TRUE(world_.StepUntil([this] { return world_.AllKnowAll(); }, kSettleMs));
    for (int i = 0; i < faults; ++i) {
      CauseOne();
      world_.Step(static_cast<int64_t>(world_.random().Below(8000)));
      ASSERT_EQ(world_.Contradiction(), "");
    }
    Heal();
    EXPECT_TRUE(world_.StepUntil([this] { return world_.Agrees(); }, kHealMs)) << world_.Disagreement();
    EXPECT_EQ(world_.Contradiction(), "");
  }

 private:
  int AnyServer() { return static_cast<int>(world_.random().Below(static_cast<uint64_t>(world_.Servers()))); }
  int AnySentinel() { return static_cast<int>(world_.random().Below(static_cast<uint64_t>(world_.Count()))); }
  int AnyPlace() {
    return world_.random().Below(2) == 0 ? world_.server(AnyServer()).port : world_[AnySentinel()].port();
  }

  void CauseOne() {
    switch (world_.random().Below(9)) {
      case 0:
        return world_.StopServer(AnyServer());
      case 1:
        return world_.StartServer(AnyServer());
      case 2:
        return world_[AnySentinel()].Stop();
      case 3:
        return world_[AnySentinel()].Start();
      case 4:
        world_[AnySentinel()].is_frozen ^= true;
        return;
      case 5:
        world_.server(AnyServer()).is_frozen ^= true;
        return;
      case 6:
        return world_.SetApart(AnyPlace(), AnyPlace());
      case 7:
        return world_.Split({AnyPlace(), AnyPlace(), AnyPlace()});
      default:
        return world_.SetAllTogether();
    }
  }

  void Heal() {
    world_.SetAllTogether();
    for (int i = 0; i < world_.Servers(); ++i) {
      world_.StartServer(i);
      world_.server(i).is_frozen = false;
    }
    for (int i = 0; i < world_.Count(); ++i) {
      world_[i].Start();
      world_[i].is_frozen = false;
    }
  }

  SentinelWorld world_;
};

void RunSeeds(const SentinelWorld::Options& options, uint64_t first, uint64_t last) {
  for (uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    SentinelWorld::Options with_seed = options;
    with_seed.seed = seed;
    Faults(with_seed).Run(25);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(SentinelFaultsTest, ThreeSentinels) { RunSeeds({}, 1, 40); }

TEST(SentinelFaultsTest, FiveSentinels) { RunSeeds({.sentinels = 5, .servers = 4, .quorum = 3}, 101, 120); }

// The quorum decides which server is down; a majority must still vote.
TEST(SentinelFaultsTest, AQuorumOfOne) { RunSeeds({.sentinels = 5, .servers = 3, .quorum = 1}, 201, 220); }

TEST(SentinelFaultsTest, NewSeeds) {
  const uint64_t seed = SystemSeed() % 1'000'000'000;
  RunSeeds({}, seed, seed + 5);
}

}  // namespace
}  // namespace respite
