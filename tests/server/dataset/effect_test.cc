#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/dataset/journal.h"

namespace respite {
namespace {

TEST(EffectTest, IsTheCommandItselfUntilItIsReplaced) {
  const Propagation effect(true);
  EXPECT_FALSE(effect.IsReplaced());
  EXPECT_EQ(effect.Count(), 0u);
}

TEST(EffectTest, HoldsCommandsAsRequests) {
  Propagation effect(true);
  effect.Replace("SET", Bytes("key"), std::string("value"), "PXAT", int64_t{-7});
  effect.Replace(std::vector<std::string>{"DEL", ""});
  effect.Replace(std::vector<Bytes>{"PERSIST"});
  EXPECT_TRUE(effect.IsReplaced());
  ASSERT_EQ(effect.Count(), 3u);
  EXPECT_EQ(effect[0], "*5\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n$4\r\nPXAT\r\n$2\r\n-7\r\n");
  EXPECT_EQ(effect[1], "*2\r\n$3\r\nDEL\r\n$0\r\n\r\n");
  EXPECT_EQ(effect[2], "*1\r\n$7\r\nPERSIST\r\n");
}

TEST(EffectTest, MayBeNothing) {
  Propagation effect(true);
  effect.SuppressCommandItself();
  EXPECT_TRUE(effect.IsReplaced());
  EXPECT_EQ(effect.Count(), 0u);
}

TEST(EffectTest, HoldsNothingIfNobodyRecords) {
  Propagation effect(false);
  effect.Replace("DEL", Bytes("key"));
  EXPECT_FALSE(effect.IsReplaced());
  EXPECT_EQ(effect.Count(), 0u);
}

}  // namespace
}  // namespace respite
