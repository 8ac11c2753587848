#include "server/clients/key_queues.h"

#include <gtest/gtest.h>

namespace respite {
namespace {

class KeyLinesTest : public testing::Test {
 protected:
  KeyQueues<int>::Place Walker() {
    const auto walker = lines_.Add(0, "k", 0);
    lines_.MoveToFront(walker);
    return walker;
  }
  KeyQueues<int> lines_{HashKey{42}};
};

TEST_F(KeyLinesTest, KeepsALineForEachKeyOfEachDatabase) {
  const auto one = lines_.Add(0, "k", 1);
  lines_.Add(1, "k", 2);
  lines_.Add(0, "k", 3);
  EXPECT_EQ(lines_.Keys(), 2u);
  EXPECT_EQ(lines_.Find(0, "k")->members, (std::list<int>{1, 3}));
  lines_.Remove(one);
  EXPECT_EQ(lines_.Find(0, "k")->members, std::list<int>{3});
  EXPECT_EQ(lines_.Find(0, "other"), nullptr);
}

TEST_F(KeyLinesTest, ALineGoesWithItsLastMember) {
  const auto place = lines_.Add(0, "k", 1);
  lines_.Remove(place);
  EXPECT_TRUE(lines_.IsEmpty());
  EXPECT_EQ(lines_.Find(0, "k"), nullptr);
}

TEST_F(KeyLinesTest, AWalkerVisitsMembersInOrderAndKeepsIt) {
  for (int member : {1, 2, 3}) lines_.Add(0, "k", member);
  const auto walker = Walker();
  for (int member : {1, 2, 3}) EXPECT_EQ(*lines_.StepOverNext(walker), member);
  EXPECT_EQ(lines_.StepOverNext(walker), nullptr);
  lines_.Remove(walker);
  EXPECT_EQ(lines_.Find(0, "k")->members, (std::list<int>{1, 2, 3}));
}

TEST_F(KeyLinesTest, AWalkerToleratesChangesOfTheLine) {
  const auto one = lines_.Add(0, "k", 1);
  const auto two = lines_.Add(0, "k", 2);
  const auto three = lines_.Add(0, "k", 3);
  const auto walker = Walker();
  EXPECT_EQ(*lines_.StepOverNext(walker), 1);
  lines_.Remove(two);
  lines_.Remove(one);
  const auto again = lines_.Add(0, "k", 4);
  EXPECT_EQ(*lines_.StepOverNext(walker), 3);
  lines_.Remove(three);
  lines_.Remove(again);
  EXPECT_EQ(lines_.StepOverNext(walker), nullptr);
  lines_.Remove(walker);
  EXPECT_TRUE(lines_.IsEmpty());
}

}  // namespace
}  // namespace respite
