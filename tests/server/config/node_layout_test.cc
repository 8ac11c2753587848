// The directive `nodes`: its syntax, and how it assigns slots and roles.
#include "server/config/node_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace respite {
namespace {

TEST(NodeLayoutTest, ReadsPrimariesAndReplicas) {
  EXPECT_EQ(NodeLayout::Parse("3x1").value(), (NodeLayout{3, 1}));
  EXPECT_EQ(NodeLayout::Parse("2X0").value(), (NodeLayout{2, 0}));
  EXPECT_EQ(NodeLayout::Parse("4").value(), (NodeLayout{4, 0}));
  EXPECT_EQ(NodeLayout::Parse("256").value().Count(), 256);
  EXPECT_EQ(NodeLayout::Parse("64x3").value().Count(), 256);
}

TEST(NodeLayoutTest, RefusesWhatIsNoLayout) {
  for (const char* text : {"x", "3x", "x1", "3x1x1", "-3x1", "3x-1", "3 x 1", "three", "+3", "3.5"}) {
    const auto layout = NodeLayout::Parse(text);
    ASSERT_FALSE(layout.ok()) << text;
    EXPECT_EQ(layout.error(), "argument must be the number of primaries, as 3, or with the replicas of each, as 3x1");
  }
  EXPECT_EQ(NodeLayout::Parse("0x1").error(), "there must be a primary at least");
  for (const char* text : {"257", "129x1", "1x256", "100000000000x100000000000"}) {
    EXPECT_EQ(NodeLayout::Parse(text).error(), "there can be 256 nodes at most") << text;
  }
}

TEST(NodeLayoutTest, ReplicasTakeTurnsWithThePrimaries) {
  const NodeLayout layout{3, 2};
  ASSERT_EQ(layout.Count(), 9);
  for (int primary = 0; primary < 3; ++primary) {
    EXPECT_EQ(layout.PrimaryOf(primary), std::nullopt);
    EXPECT_EQ(layout.PrimaryOf(3 + primary), primary);
    EXPECT_EQ(layout.PrimaryOf(6 + primary), primary);
  }
}

TEST(NodeLayoutTest, SharesSlotsAsRedisCliDoes) {
  const NodeLayout three{3, 0};
  EXPECT_EQ(three.FirstSlot(0), 0);
  EXPECT_EQ(three.LastSlot(0), 5460);
  EXPECT_EQ(three.FirstSlot(1), 5461);
  EXPECT_EQ(three.LastSlot(1), 10922);
  EXPECT_EQ(three.FirstSlot(2), 10923);
  EXPECT_EQ(three.LastSlot(2), 16383);
}

TEST(NodeLayoutTest, SharesAreEqualAndWhole) {
  for (int primaries = 1; primaries <= NodeLayout::kMaxNodes; ++primaries) {
    const NodeLayout layout{primaries, 0};
    int next = 0;
    int least = kSlotCount;
    int most = 0;
    for (int i = 0; i < primaries; ++i) {
      EXPECT_EQ(layout.FirstSlot(i), next);
      next = layout.LastSlot(i) + 1;
      least = std::min(least, next - layout.FirstSlot(i));
      most = std::max(most, next - layout.FirstSlot(i));
    }
    EXPECT_EQ(next, kSlotCount);
    EXPECT_LE(most - least, 1) << primaries;
  }
}

}  // namespace
}  // namespace respite
