// Nodes of a cluster with several databases (cluster-databases). Each database is indexed by slot, and a slot covers
// the keys of all databases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "tests/support/cluster_pair.h"

namespace respite {
namespace {

constexpr int kSlot = 5061;  // the slot of bar
constexpr char kTryAgain[] = "TRYAGAIN Multiple keys request during rehashing of slot";

class ClusterDatabasesTest : public ClusterPairTest {
 protected:
  static std::vector<std::string> Extra() { return {"cluster-databases 4", "repl-diskless-load swapdb"}; }

  ClusterDatabasesTest() : ClusterPairTest(Extra()) {}

  TestReply RunIn(int db, Member& member, const std::string& line) {
    EXPECT_THAT(member.Run(StrCat("SELECT ", db)), Ok());
    return member.Run(line);
  }
  std::string Ask() const { return StrCat("ASK 5061 127.0.0.1:", target_.port()); }
};

TEST_F(ClusterDatabasesTest, AreSelectedByNumber) {
  EXPECT_THAT(source_.Run("SELECT 3"), Ok());
  EXPECT_THAT(source_.Run("SELECT 4"), Error("ERR DB index is out of range"));
  EXPECT_THAT(source_.Run("SWAPDB 0 1"), Error("ERR SWAPDB is not allowed in cluster mode"));
  EXPECT_THAT(source_.Run("CONFIG GET cluster-databases"), Bulks({"cluster-databases", "4"}));
  EXPECT_THAT(source_.Run("CONFIG SET cluster-databases 5"),
              Error("ERR CONFIG SET failed (possibly related to argument 'cluster-databases') - can't set immutable "
                    "config"));
}

TEST_F(ClusterDatabasesTest, HaveKeysOfTheirOwn) {
  source_.Run("SET bar 0");
  EXPECT_THAT(RunIn(1, source_, "MSET bar 1 {bar}x 1"), Ok());
  EXPECT_THAT(source_.Run("CLUSTER COUNTKEYSINSLOT 5061"), Int(2));
  EXPECT_EQ(source_.Run("CLUSTER GETKEYSINSLOT 5061 10").Size(), 2u);
  EXPECT_THAT(RunIn(0, source_, "CLUSTER GETKEYSINSLOT 5061 10"), Bulks({"bar"}));
  EXPECT_THAT(source_.Run("DBSIZE"), Int(1));
  EXPECT_THAT(source_.Run("FLUSHDB"), Ok());
  EXPECT_THAT(source_.Run("CLUSTER COUNTKEYSINSLOT 5061"), Int(0));
  EXPECT_THAT(source_.Run("CLUSTER FLUSHSLOTS"), Error("ERR DB must be empty to perform CLUSTER FLUSHSLOTS."));
  EXPECT_THAT(RunIn(1, source_, "DBSIZE"), Int(2));
  EXPECT_THAT(source_.Run("FLUSHALL"), Ok());
  EXPECT_THAT(source_.Run("CLUSTER FLUSHSLOTS"), Ok());
}

TEST_F(ClusterDatabasesTest, FlushSlotDeletesTheKeysOfOneSlotInAllDatabases) {
  for (int db = 0; db < 3; ++db) EXPECT_THAT(RunIn(db, source_, "MSET bar 1 {bar}x 2"), Ok());
  source_.Run("SET foo 1");
  for (const char* refused : {"x", "-1", "16384"}) {
    EXPECT_THAT(source_.Run(StrCat("CLUSTER FLUSHSLOT ", refused)), Error("ERR Invalid or out of range slot"));
  }
  EXPECT_THAT(source_.Run("CLUSTER FLUSHSLOT 5061 what"), Error("ERR syntax error"));
  EXPECT_THAT(source_.Run("CLUSTER FLUSHSLOT 5061 SYNC ASYNC"),
              Error("ERR unknown subcommand or wrong number of arguments for 'FLUSHSLOT'. Try CLUSTER HELP."));
  EXPECT_THAT(source_.Run("CLUSTER COUNTKEYSINSLOT 5061"), Int(2));
  EXPECT_THAT(source_.Run("CLUSTER FLUSHSLOT 5061"), Ok());
  for (int db = 0; db < 3; ++db) EXPECT_THAT(RunIn(db, source_, "CLUSTER COUNTKEYSINSLOT 5061"), Int(0));
  EXPECT_THAT(source_.Run("EXISTS foo"), Int(1));
  for (const char* mode : {"SYNC", "ASYNC"}) {
    EXPECT_THAT(source_.Run("SET bar 1"), Ok());
    EXPECT_THAT(source_.Run(StrCat("CLUSTER FLUSHSLOT 5061 ", mode)), Ok());
    EXPECT_THAT(source_.Run("EXISTS bar"), Int(0));
  }
}

TEST_F(ClusterDatabasesTest, KeysOfAnyDatabaseKeepANodeFromLosingItsData) {
  EXPECT_THAT(RunIn(1, source_, "SET bar 1"), Ok());
  EXPECT_THAT(source_.Run("CLUSTER RESET"),
              Error("ERR CLUSTER RESET can't be called with master nodes containing keys"));
  EXPECT_THAT(source_.Run("CLUSTER DELSLOTSRANGE 0 16383"), Ok());
  EXPECT_THAT(source_.Run("CLUSTER REPLICATE " + Id(target_)),
              Error("ERR To set a master the node must be empty and without assigned slots."));
  EXPECT_THAT(source_.Run("DBSIZE"), Int(1));
}

TEST_F(ClusterDatabasesTest, KeysMoveAndAreCopiedWithinTheirSlot) {
  source_.Run("SET bar 0");
  EXPECT_THAT(source_.Run("MOVE bar 2"), Int(1));
  EXPECT_THAT(source_.Run("MOVE bar 4"), Error("ERR DB index is out of range"));
  EXPECT_THAT(RunIn(2, source_, "COPY bar {bar}y DB 3"), Int(1));
  EXPECT_THAT(source_.Run("COPY bar foo DB 3"), Error("CROSSSLOT Keys in request don't hash to the same slot"));
  EXPECT_THAT(source_.Run("COPY bar bar DB 4"), Error("ERR DB index is out of range"));
  EXPECT_THAT(RunIn(3, source_, "CLUSTER GETKEYSINSLOT 5061 10"), Bulks({"{bar}y"}));
}

// For a slot in migration, the answer depends on whether the key is in the client's current database.
TEST_F(ClusterDatabasesTest, ASlotThatMovesAsksForEachDatabase) {
  RunIn(1, source_, "SET bar 1");
  BeginMove();
  EXPECT_THAT(source_.Run("GET bar"), Bulk("1"));
  EXPECT_THAT(RunIn(0, source_, "GET bar"), Error(Ask()));
  EXPECT_THAT(RunIn(1, source_, "COPY bar {bar}z"), Error(kTryAgain));
  EXPECT_THAT(source_.Run("MOVE bar 2"), Error(kTryAgain));
  EXPECT_THAT(source_.Run("COPY bar bar DB 2"), Error(kTryAgain));
  EXPECT_THAT(target_.Run("MOVE bar 2"), Error(StrCat("MOVED 5061 127.0.0.1:", source_.port())));
  target_.Run("ASKING");
  EXPECT_THAT(target_.Run("MOVE bar 2"), Error(kTryAgain));
  EXPECT_THAT(source_.Run("CLUSTER SETSLOT 5061 STABLE"), Ok());
  EXPECT_THAT(source_.Run("MOVE bar 2"), Int(1));
}

TEST_F(ClusterDatabasesTest, QueuedCommandsAreLookedForInTheirDatabase) {
  RunIn(1, source_, "SET bar 1");
  RunIn(0, source_, "SET {bar}0 0");
  TestClient client(source_.server());
  for (const char* line : {"MULTI", "GET {bar}0", "SELECT 1", "GET bar"}) client.Run(line);
  BeginMove();
  EXPECT_THAT(client.Run("EXEC"), ArrayOf({Bulk("0"), Ok(), Bulk("1")}));
}

TEST_F(ClusterDatabasesTest, EachDatabaseOfASlotIsMigratedByItself) {
  RunIn(0, source_, "SET bar 0");
  RunIn(2, source_, "MSET bar 2 {bar}x 2");
  BeginMove();
  const std::string address = StrCat("MIGRATE 127.0.0.1 ", target_.port());
  TestClient client(source_.server());
  client.Run("SELECT 2");
  client.Send(address + " '' 3 1000 KEYS bar {bar}x");
  network().Run();
  EXPECT_THAT(client.Read(), Ok());
  EXPECT_THAT(RunIn(2, source_, "CLUSTER COUNTKEYSINSLOT 5061"), Int(0));
  EXPECT_THAT(RunIn(3, target_, "CLUSTER COUNTKEYSINSLOT 5061"), Int(2));
  EXPECT_THAT(source_.Run("CLUSTER SETSLOT 5061 NODE " + Id(target_)),
              Error("ERR Can't assign hashslot 5061 to a different node while I still hold keys for this hash slot."));
  client.Run("SELECT 0");
  client.Send(address + " bar 0 1000");
  network().Run();
  EXPECT_THAT(client.Read(), Ok());
  EXPECT_THAT(source_.Run("CLUSTER SETSLOT 5061 NODE " + Id(target_)), Ok());
  EXPECT_THAT(target_.Run("CLUSTER SETSLOT 5061 NODE " + Id(target_)), Ok());
  EXPECT_THAT(RunIn(3, target_, "GET bar"), Bulk("2"));
  EXPECT_THAT(RunIn(0, target_, "GET bar"), Bulk("0"));
}

TEST_F(ClusterDatabasesTest, ASlotThatIsLostTakesItsKeysWithIt) {
  for (int db = 0; db < 4; ++db)
    for (const char* key : {"bar", "foo"}) RunIn(db, source_, "SET " + std::string(key) + " 1");
  // The other node claims the slot with a higher epoch.
  EXPECT_THAT(target_.Run("CLUSTER SETSLOT 5061 IMPORTING " + Id(source_)), Ok());
  EXPECT_THAT(target_.Run("CLUSTER SETSLOT 5061 NODE " + Id(target_)), Ok());
  network().Step(20'000);
  EXPECT_EQ(View(source_).Owner(kSlot)->id, View(target_).me().id);
  for (int db = 0; db < 4; ++db) EXPECT_THAT(RunIn(db, source_, "KEYS *"), Bulks({"foo"})) << db;
}

TEST_F(ClusterDatabasesTest, ReachReplicas) {
  RunIn(3, source_, "SET bar 3");
  source_.Run("SET foo 3");
  EXPECT_THAT(target_.Run("CLUSTER REPLICATE " + Id(source_)), Ok());
  network().Step(5000);
  ASSERT_TRUE(target_.IsLinked());
  RunIn(2, source_, "SET bar 2");
  source_.Run("MOVE bar 1");
  network().Step(1000);
  ExpectSameData(source_, target_);
  EXPECT_THAT(RunIn(3, target_, "CLUSTER COUNTKEYSINSLOT 5061"), Int(1));
  EXPECT_THAT(target_.Run("READONLY"), Ok());
  EXPECT_THAT(target_.Run("GET bar"), Bulk("3"));
  EXPECT_THAT(RunIn(1, target_, "GET bar"), Bulk("2"));
}

// A replica whose replication history was lost temporarily loads the new snapshot next to the old data.
TEST_F(ClusterDatabasesTest, SurviveASnapshotThatIsLoadedAside) {
  RunIn(3, source_, "SET bar 3");
  EXPECT_THAT(target_.Run("CLUSTER REPLICATE " + Id(source_)), Ok());
  network().Step(5000);
  ASSERT_TRUE(target_.IsLinked());
  network().SetApart(source_.port(), target_.port());
  source_.Run("CONFIG SET repl-backlog-size 16384");
  source_.Run("CONFIG SET repl-diskless-sync yes");
  for (int i = 0; i < 100; ++i) RunIn(3, source_, StrCat("SET {bar}", i, " ", std::string(1000, 'x')));
  network().Step(100'000);
  network().SetAllTogether();
  network().Step(20'000);
  ASSERT_TRUE(target_.IsLinked());
  ExpectSameData(source_, target_);
  EXPECT_THAT(target_.Log(), testing::HasSubstr("Swapping active DB with loaded DB"));
  EXPECT_THAT(RunIn(3, target_, "CLUSTER COUNTKEYSINSLOT 5061"), Int(101));
}

TEST_F(ClusterDatabasesTest, AreInTheSnapshot) {
  RunIn(3, source_, "SET bar 3");
  EXPECT_THAT(source_.Run("SAVE"), Ok());
  source_.Stop();
  source_.Start();
  network().Step(6000);
  EXPECT_THAT(RunIn(3, source_, "CLUSTER GETKEYSINSLOT 5061 10"), Bulks({"bar"}));
  EXPECT_THAT(source_.Run("GET bar"), Bulk("3"));
}

// Keys in any database make the node claim their slot if it has no owner.
TEST_F(ClusterDatabasesTest, ClaimTheSlotsOfTheirKeys) {
  RunIn(3, source_, "SET bar 3");
  EXPECT_THAT(source_.Run("SAVE"), Ok());
  View(source_).Assign(kSlot, nullptr);
  View(source_).RequestSave();
  network().Step(200);
  source_.Stop();
  source_.Start();
  EXPECT_EQ(View(source_).Owner(kSlot), &View(source_).me());
  EXPECT_THAT(source_.Log(), testing::HasSubstr("I have keys for 1 unassigned slots."));
}

}  // namespace
}  // namespace respite
