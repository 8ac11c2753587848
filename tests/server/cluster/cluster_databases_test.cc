// Nodes of a cluster with several databases (cluster-databases): each has slots of its own, and a slot is that of all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using Member = ReplicationWorld::Member;

constexpr int kSlot = 5061;  // of bar
constexpr char kTryAgain[] = "TRYAGAIN Multiple keys request during rehashing of slot";

class ClusterDatabasesTest : public ReplicationTest {
 protected:
  // All slots are at the first node.
  ClusterDatabasesTest() {
    EXPECT_THAT(node_.Run("CLUSTER ADDSLOTSRANGE 0 16383"), Ok());
    ClusterNode& known = Introduce(node_, other_);
    Introduce(other_, node_);
    for (int slot = 0; slot < kSlotCount; ++slot) View(other_).Assign(slot, &known);
    network().Step(6000);
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
  void BeginMove() {
    EXPECT_THAT(node_.Run("CLUSTER SETSLOT 5061 MIGRATING " + Id(other_)), Ok());
    EXPECT_THAT(other_.Run("CLUSTER SETSLOT 5061 IMPORTING " + Id(node_)), Ok());
  }
  TestReply RunIn(int db, Member& member, const std::string& line) {
    EXPECT_THAT(member.Run("SELECT " + std::to_string(db)), Ok());
    return member.Run(line);
  }
  std::string Ask() const { return "ASK 5061 127.0.0.1:" + std::to_string(other_.port()); }

  static std::vector<std::string> Directives() {
    return {"cluster-enabled yes", "cluster-databases 4", "cluster-node-timeout 100000000",
            "repl-diskless-load swapdb"};
  }

  Member& node_ = world_.Add(Directives());
  Member& other_ = world_.Add(Directives());
};

TEST_F(ClusterDatabasesTest, AreSelectedByNumber) {
  EXPECT_THAT(node_.Run("SELECT 3"), Ok());
  EXPECT_THAT(node_.Run("SELECT 4"), Error("ERR DB index is out of range"));
  EXPECT_THAT(node_.Run("SWAPDB 0 1"), Error("ERR SWAPDB is not allowed in cluster mode"));
  EXPECT_THAT(node_.Run("CONFIG GET cluster-databases"), Bulks({"cluster-databases", "4"}));
  EXPECT_THAT(node_.Run("CONFIG SET cluster-databases 5"),
              Error("ERR CONFIG SET failed (possibly related to argument 'cluster-databases') - can't set immutable "
                    "config"));
}

TEST_F(ClusterDatabasesTest, HaveKeysOfTheirOwn) {
  node_.Run("SET bar 0");
  EXPECT_THAT(RunIn(1, node_, "MSET bar 1 {bar}x 1"), Ok());
  EXPECT_THAT(node_.Run("CLUSTER COUNTKEYSINSLOT 5061"), Int(2));
  EXPECT_EQ(node_.Run("CLUSTER GETKEYSINSLOT 5061 10").Size(), 2u);
  EXPECT_THAT(RunIn(0, node_, "CLUSTER GETKEYSINSLOT 5061 10"), Bulks({"bar"}));
  EXPECT_THAT(node_.Run("DBSIZE"), Int(1));
  EXPECT_THAT(node_.Run("FLUSHDB"), Ok());
  EXPECT_THAT(node_.Run("CLUSTER COUNTKEYSINSLOT 5061"), Int(0));
  EXPECT_THAT(node_.Run("CLUSTER FLUSHSLOTS"), Error("ERR DB must be empty to perform CLUSTER FLUSHSLOTS."));
  EXPECT_THAT(RunIn(1, node_, "DBSIZE"), Int(2));
  EXPECT_THAT(node_.Run("FLUSHALL"), Ok());
  EXPECT_THAT(node_.Run("CLUSTER FLUSHSLOTS"), Ok());
}

TEST_F(ClusterDatabasesTest, KeysMoveAndAreCopiedWithinTheirSlot) {
  node_.Run("SET bar 0");
  EXPECT_THAT(node_.Run("MOVE bar 2"), Int(1));
  EXPECT_THAT(node_.Run("MOVE bar 4"), Error("ERR DB index is out of range"));
  EXPECT_THAT(RunIn(2, node_, "COPY bar {bar}y DB 3"), Int(1));
  EXPECT_THAT(node_.Run("COPY bar foo DB 3"), Error("CROSSSLOT Keys in request don't hash to the same slot"));
  EXPECT_THAT(node_.Run("COPY bar bar DB 4"), Error("ERR DB index is out of range"));
  EXPECT_THAT(RunIn(3, node_, "CLUSTER GETKEYSINSLOT 5061 10"), Bulks({"{bar}y"}));
}

// Whether a key of a slot that moves is here depends on the database of the client.
TEST_F(ClusterDatabasesTest, ASlotThatMovesAsksForEachDatabase) {
  RunIn(1, node_, "SET bar 1");
  BeginMove();
  EXPECT_THAT(node_.Run("GET bar"), Bulk("1"));
  EXPECT_THAT(RunIn(0, node_, "GET bar"), Error(Ask()));
  EXPECT_THAT(RunIn(1, node_, "COPY bar {bar}z"), Error(kTryAgain));
  EXPECT_THAT(node_.Run("MOVE bar 2"), Error(kTryAgain));
  EXPECT_THAT(node_.Run("COPY bar bar DB 2"), Error(kTryAgain));
  EXPECT_THAT(other_.Run("MOVE bar 2"), Error("MOVED 5061 127.0.0.1:" + std::to_string(node_.port())));
  other_.Run("ASKING");
  EXPECT_THAT(other_.Run("MOVE bar 2"), Error(kTryAgain));
  EXPECT_THAT(node_.Run("CLUSTER SETSLOT 5061 STABLE"), Ok());
  EXPECT_THAT(node_.Run("MOVE bar 2"), Int(1));
}

TEST_F(ClusterDatabasesTest, QueuedCommandsAreLookedForInTheirDatabase) {
  RunIn(1, node_, "SET bar 1");
  RunIn(0, node_, "SET {bar}0 0");
  TestClient client(node_.server());
  for (const char* line : {"MULTI", "GET {bar}0", "SELECT 1", "GET bar"}) client.Run(line);
  BeginMove();
  EXPECT_THAT(client.Run("EXEC"), ArrayOf({Bulk("0"), Ok(), Bulk("1")}));
}

TEST_F(ClusterDatabasesTest, EachDatabaseOfASlotIsMigratedByItself) {
  RunIn(0, node_, "SET bar 0");
  RunIn(2, node_, "MSET bar 2 {bar}x 2");
  BeginMove();
  const std::string address = "MIGRATE 127.0.0.1 " + std::to_string(other_.port());
  TestClient client(node_.server());
  client.Run("SELECT 2");
  client.Send(address + " '' 3 1000 KEYS bar {bar}x");
  network().Run();
  EXPECT_THAT(client.Read(), Ok());
  EXPECT_THAT(RunIn(2, node_, "CLUSTER COUNTKEYSINSLOT 5061"), Int(0));
  EXPECT_THAT(RunIn(3, other_, "CLUSTER COUNTKEYSINSLOT 5061"), Int(2));
  EXPECT_THAT(node_.Run("CLUSTER SETSLOT 5061 NODE " + Id(other_)),
              Error("ERR Can't assign hashslot 5061 to a different node while I still hold keys for this hash slot."));
  client.Run("SELECT 0");
  client.Send(address + " bar 0 1000");
  network().Run();
  EXPECT_THAT(client.Read(), Ok());
  EXPECT_THAT(node_.Run("CLUSTER SETSLOT 5061 NODE " + Id(other_)), Ok());
  EXPECT_THAT(other_.Run("CLUSTER SETSLOT 5061 NODE " + Id(other_)), Ok());
  EXPECT_THAT(RunIn(3, other_, "GET bar"), Bulk("2"));
  EXPECT_THAT(RunIn(0, other_, "GET bar"), Bulk("0"));
}

TEST_F(ClusterDatabasesTest, ASlotThatIsLostTakesItsKeysWithIt) {
  for (int db = 0; db < 4; ++db)
    for (const char* key : {"bar", "foo"}) RunIn(db, node_, "SET " + std::string(key) + " 1");
  // The other node claims the slot with a higher epoch.
  EXPECT_THAT(other_.Run("CLUSTER SETSLOT 5061 IMPORTING " + Id(node_)), Ok());
  EXPECT_THAT(other_.Run("CLUSTER SETSLOT 5061 NODE " + Id(other_)), Ok());
  network().Step(20'000);
  EXPECT_EQ(View(node_).Owner(kSlot)->id, View(other_).me().id);
  for (int db = 0; db < 4; ++db) EXPECT_THAT(RunIn(db, node_, "KEYS *"), Bulks({"foo"})) << db;
}

TEST_F(ClusterDatabasesTest, ReachReplicas) {
  RunIn(3, node_, "SET bar 3");
  node_.Run("SET foo 3");
  EXPECT_THAT(other_.Run("CLUSTER REPLICATE " + Id(node_)), Ok());
  network().Step(5000);
  ASSERT_TRUE(other_.IsLinked());
  RunIn(2, node_, "SET bar 2");
  node_.Run("MOVE bar 1");
  network().Step(1000);
  ExpectSameData(node_, other_);
  EXPECT_THAT(RunIn(3, other_, "CLUSTER COUNTKEYSINSLOT 5061"), Int(1));
  EXPECT_THAT(other_.Run("READONLY"), Ok());
  EXPECT_THAT(other_.Run("GET bar"), Bulk("3"));
  EXPECT_THAT(RunIn(1, other_, "GET bar"), Bulk("2"));
}

// A replica that has lost its primary's history for a while loads the new snapshot beside the old data.
TEST_F(ClusterDatabasesTest, SurviveASnapshotThatIsLoadedAside) {
  RunIn(3, node_, "SET bar 3");
  EXPECT_THAT(other_.Run("CLUSTER REPLICATE " + Id(node_)), Ok());
  network().Step(5000);
  ASSERT_TRUE(other_.IsLinked());
  network().SetApart(node_.port(), other_.port());
  node_.Run("CONFIG SET repl-backlog-size 16384");
  node_.Run("CONFIG SET repl-diskless-sync yes");
  for (int i = 0; i < 100; ++i) RunIn(3, node_, "SET {bar}" + std::to_string(i) + " " + std::string(1000, 'x'));
  network().Step(100'000);
  network().SetAllTogether();
  network().Step(20'000);
  ASSERT_TRUE(other_.IsLinked());
  ExpectSameData(node_, other_);
  EXPECT_THAT(other_.Log(), testing::HasSubstr("Swapping active DB with loaded DB"));
  EXPECT_THAT(RunIn(3, other_, "CLUSTER COUNTKEYSINSLOT 5061"), Int(101));
}

TEST_F(ClusterDatabasesTest, AreInTheSnapshot) {
  RunIn(3, node_, "SET bar 3");
  EXPECT_THAT(node_.Run("SAVE"), Ok());
  node_.Stop();
  node_.Start();
  network().Step(6000);
  EXPECT_THAT(RunIn(3, node_, "CLUSTER GETKEYSINSLOT 5061 10"), Bulks({"bar"}));
  EXPECT_THAT(node_.Run("GET bar"), Bulk("3"));
}

// Keys without an owner of their slot, in any database, make the slot that of the node.
TEST_F(ClusterDatabasesTest, ClaimTheSlotsOfTheirKeys) {
  RunIn(3, node_, "SET bar 3");
  EXPECT_THAT(node_.Run("SAVE"), Ok());
  View(node_).Assign(kSlot, nullptr);
  View(node_).WantSave();
  network().Step(200);
  node_.Stop();
  node_.Start();
  EXPECT_EQ(View(node_).Owner(kSlot), &View(node_).me());
  EXPECT_THAT(node_.Log(), testing::HasSubstr("I have keys for 1 unassigned slots."));
}

}  // namespace
}  // namespace respite
