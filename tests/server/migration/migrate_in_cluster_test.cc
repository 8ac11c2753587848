// MIGRATE between two nodes of a cluster, while the slot of the keys moves from one to the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "tests/support/cluster_pair.h"

namespace respite {
namespace {

constexpr int kMovingSlot = 5061;  // the slot of bar

class MigrateInClusterTest : public ClusterPairTest {
 protected:
  TestClient client_{source_.server()};
};

TEST_F(MigrateInClusterTest, TheTargetTakesKeysOfASlotThatItImports) {
  EXPECT_THAT(source_.Run("MSET bar 1 {bar}2 2"), Ok());
  BeginMove();
  client_.Send(StrCat("MIGRATE 127.0.0.1 ", target_.port(), " '' 0 1000 KEYS bar {bar}none {bar}2"));
  TestClient other(source_.server());
  other.Send("GET bar");
  network().Run();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(other.Read(), Error(StrCat("ASK 5061 127.0.0.1:", target_.port())));
  EXPECT_THAT(target_.Run("GET bar"), Error(StrCat("MOVED 5061 127.0.0.1:", source_.port())));
  target_.Run("ASKING");
  EXPECT_THAT(target_.Run("MGET bar {bar}2"), Bulks({"1", "2"}));
  EXPECT_THAT(source_.Run("CLUSTER COUNTKEYSINSLOT 5061"), Int(0));
  EXPECT_THAT(source_.Run("CLUSTER SETSLOT 5061 NODE " + Id(target_)), Ok());
}

TEST_F(MigrateInClusterTest, KeysOfOtherSlotsAreRefused) {
  EXPECT_THAT(source_.Run("SET foo 1"), Ok());
  BeginMove();
  client_.Send(StrCat("MIGRATE 127.0.0.1 ", target_.port(), " foo 0 1000"));
  network().Run();
  EXPECT_THAT(client_.Read(), ErrorStartsWith("ERR Target instance replied with error: MOVED 12182 "));
  EXPECT_THAT(source_.Run("GET foo"), Bulk("1"));
}

// The other node answered, so the keys must be deleted although it owns the slot now.
TEST_F(MigrateInClusterTest, TheSlotIsGivenAwayMeanwhile) {
  EXPECT_THAT(source_.Run("SET bar 1"), Ok());
  BeginMove();
  network().SetApart(source_.port(), target_.port());
  client_.Send(StrCat("MIGRATE 127.0.0.1 ", target_.port(), " bar 0 1000"));
  network().Run();
  View(source_).Assign(kMovingSlot, View(source_).Find(View(target_).me().id));
  network().SetAllTogether();
  network().Run();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(source_.Run("DBSIZE"), Int(0));
}

}  // namespace
}  // namespace respite
