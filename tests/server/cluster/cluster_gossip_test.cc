// Counts the rounds of the timer (ten a second) and the packets that a large cluster needs until all nodes have the
// same view after a partition has healed. docs/design/cluster.md has the figures.
//
// RESPITE_GOSSIP_NODES sets the number of nodes, RESPITE_GOSSIP_TIMEOUT_MS the node timeout.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/str_cat.h"
#include "tests/support/cluster_world.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

constexpr int64_t kRoundMs = 100;

struct Healing {
  int rounds = 0;
  double packets_per_node = 0;
};

// Cuts off a quarter of the primaries until their replicas, which are on the other side, have taken over.
Healing Heal(uint64_t seed, int nodes, int64_t timeout_ms) {
  const int primaries = nodes / 2;
  ClusterWorld world({.seed = seed, .node_timeout_ms = timeout_ms});
  world.AddKnownCluster(primaries, 1);
  std::set<int> island;
  for (int i = 0; i < primaries / 4; ++i) island.insert(i);
  world.Split(island);
  const auto all_took_over = [&] {
    for (const int lost : island) {
      if (!world[primaries + lost].IsPrimary()) return false;
    }
    return true;
  };
  EXPECT_TRUE(world.StepUntil(all_took_over, timeout_ms * 10));
  world.Step(1000);
  world.SetAllTogether();
  Healing healing;
  const uint64_t before = world.MessagesDelivered();
  while (!world.Agrees() && healing.rounds < 10'000) {
    world.Step(kRoundMs);
    ++healing.rounds;
  }
  healing.packets_per_node = static_cast<double>(world.MessagesDelivered() - before) / nodes;
  EXPECT_TRUE(world.Agrees()) << world.Disagreement();
  return healing;
}

TEST(ClusterGossipTest, AllAgreeSoonAfterAPartition) {
  const auto nodes = static_cast<int>(NumberFromEnvironment("RESPITE_GOSSIP_NODES", 40));
  const auto timeout_ms = static_cast<int64_t>(NumberFromEnvironment("RESPITE_GOSSIP_TIMEOUT_MS", 15'000));
  const uint64_t seeds = NumberFromEnvironment("RESPITE_GOSSIP_SEEDS", 5);
  int worst = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    const Healing healing = Heal(seed, nodes, timeout_ms);
    std::printf("seed %d: %d rounds, %.1f packets for each node\n", static_cast<int>(seed), healing.rounds,
                healing.packets_per_node);
    worst = std::max(worst, healing.rounds);
  }
  // By Redis' rule it is half a node timeout, since nodes learn of a new role only from the next PING.
  EXPECT_LE(worst, 10);
}

}  // namespace
}  // namespace respite
