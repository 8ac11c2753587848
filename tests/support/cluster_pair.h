// ClusterPairTest: the fixture of tests with two cluster nodes that know each other, without gossip. The first node
// owns all slots.
#pragma once

#include <string>
#include <vector>

#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "tests/support/replication_world.h"

namespace respite {

class ClusterPairTest : public ReplicationTest {
 protected:
  using Member = ReplicationWorld::Member;

  explicit ClusterPairTest(const std::vector<std::string>& more = {})
      : source_(world_.Add(Directives(more))), target_(world_.Add(Directives(more))) {
    EXPECT_THAT(source_.Run("CLUSTER ADDSLOTSRANGE 0 16383"), Ok());
    ClusterNode& known = Introduce(source_, target_);
    Introduce(target_, source_);
    for (int slot = 0; slot < kSlotCount; ++slot) View(target_).Assign(slot, &known);
    network().Step(6000);
  }

  // 5061 is the slot of "bar".
  void BeginMove() {
    EXPECT_THAT(source_.Run("CLUSTER SETSLOT 5061 MIGRATING " + Id(target_)), Ok());
    EXPECT_THAT(target_.Run("CLUSTER SETSLOT 5061 IMPORTING " + Id(source_)), Ok());
  }

  static ClusterView& View(Member& member) { return member->services().cluster.cluster()->view(); }
  static std::string Id(Member& member) { return View(member).me().id.String(); }
  // Adds `one` to the cluster view of `other`. Returns the node there.
  static ClusterNode& Introduce(Member& one, Member& other);
  static std::vector<std::string> Directives(const std::vector<std::string>& more) {
    std::vector<std::string> all = {"cluster-enabled yes", "cluster-node-timeout 100000000"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Member& source_;
  Member& target_;
};

inline ClusterNode& ClusterPairTest::Introduce(Member& one, Member& other) {
  ClusterNode& node = View(other).Add(View(one).me().id, kNodePrimary);
  node.shard = View(one).me().shard;
  node.is_shard_known = true;
  node.address = {.ip = "127.0.0.1",
                  .tcp_port = static_cast<uint16_t>(one.port()),
                  .tls_port = 0,
                  .bus_port = static_cast<uint16_t>(one.port() + 10000)};
  return node;
}

}  // namespace respite
