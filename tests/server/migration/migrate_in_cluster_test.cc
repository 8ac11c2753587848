// MIGRATE between two nodes of a cluster, while the slot of the keys moves from one to the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using Member = ReplicationWorld::Member;

constexpr int kSlot = 5061;  // of bar

class MigrateInClusterTest : public ReplicationTest {
 protected:
  MigrateInClusterTest() {
    EXPECT_THAT(source_.Run("CLUSTER ADDSLOTSRANGE 0 16383"), Ok());
    ClusterNode& known = Introduce(source_, target_);
    Introduce(target_, source_);
    for (int slot = 0; slot < kSlotCount; ++slot) View(target_).Assign(slot, &known);
    network().Step(6000);
  }

  void BeginMove() {
    EXPECT_THAT(source_.Run("CLUSTER SETSLOT 5061 MIGRATING " + Id(target_)), Ok());
    EXPECT_THAT(target_.Run("CLUSTER SETSLOT 5061 IMPORTING " + Id(source_)), Ok());
  }

  static ClusterView& View(Member& member) { return member->cluster().cluster()->view(); }
  static std::string Id(Member& member) { return View(member).me().id.String(); }
  // `other` hears of `one`. Returns what it knows of it.
  static ClusterNode& Introduce(Member& one, Member& other) {
    ClusterNode& node = View(other).Add(View(one).me().id, kNodePrimary);
    node.shard = View(one).me().shard;
    node.address = {.ip = "127.0.0.1",
                    .tcp_port = static_cast<uint16_t>(one.port()),
                    .tls_port = 0,
                    .bus_port = static_cast<uint16_t>(one.port() + 10000)};
    return node;
  }

  static std::vector<std::string> Directives() { return {"cluster-enabled yes", "cluster-node-timeout 100000000"}; }

  Member& source_ = world_.Add(Directives());
  Member& target_ = world_.Add(Directives());
  TestClient client_{source_.server()};
};

TEST_F(MigrateInClusterTest, TheTargetTakesKeysOfASlotThatItImports) {
  EXPECT_THAT(source_.Run("MSET bar 1 {bar}2 2"), Ok());
  BeginMove();
  client_.Send("MIGRATE 127.0.0.1 " + std::to_string(target_.port()) + " '' 0 1000 KEYS bar {bar}none {bar}2");
  TestClient other(source_.server());
  other.Send("GET bar");
  network().Run();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(other.Read(), Error("ASK 5061 127.0.0.1:" + std::to_string(target_.port())));
  EXPECT_THAT(target_.Run("GET bar"), Error("MOVED 5061 127.0.0.1:" + std::to_string(source_.port())));
  target_.Run("ASKING");
  EXPECT_THAT(target_.Run("MGET bar {bar}2"), Bulks({"1", "2"}));
  EXPECT_THAT(source_.Run("CLUSTER COUNTKEYSINSLOT 5061"), Int(0));
  EXPECT_THAT(source_.Run("CLUSTER SETSLOT 5061 NODE " + Id(target_)), Ok());
}

TEST_F(MigrateInClusterTest, KeysOfOtherSlotsAreRefused) {
  EXPECT_THAT(source_.Run("SET foo 1"), Ok());
  BeginMove();
  client_.Send("MIGRATE 127.0.0.1 " + std::to_string(target_.port()) + " foo 0 1000");
  network().Run();
  EXPECT_THAT(client_.Read(), ErrorStartsWith("ERR Target instance replied with error: MOVED 12182 "));
  EXPECT_THAT(source_.Run("GET foo"), Bulk("1"));
}

// The other node answered, so the keys must go although the slot is that of the other meanwhile.
TEST_F(MigrateInClusterTest, TheSlotIsGivenAwayMeanwhile) {
  EXPECT_THAT(source_.Run("SET bar 1"), Ok());
  BeginMove();
  network().SetApart(source_.port(), target_.port());
  client_.Send("MIGRATE 127.0.0.1 " + std::to_string(target_.port()) + " bar 0 1000");
  network().Run();
  View(source_).Assign(kSlot, View(source_).Find(View(target_).me().id));
  network().SetAllTogether();
  network().Run();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(source_.Run("DBSIZE"), Int(0));
}

}  // namespace
}  // namespace respite
