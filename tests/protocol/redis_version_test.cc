#include "protocol/redis_version.h"

#include <gtest/gtest.h>

namespace respite {
namespace {

TEST(VersionTest, PartsThatAreLeftOutAreZero) {
  EXPECT_EQ((Version{7, 2, 4}), ParseVersion("7.2.4"));
  EXPECT_EQ((Version{7, 2, 0}), ParseVersion("7.2"));
  EXPECT_EQ((Version{7, 0, 0}), ParseVersion("7"));
  EXPECT_EQ("7.0.15", ParseVersion("7.0.15")->Text());
}

TEST(VersionTest, NumbersAreCompared) {
  EXPECT_LT(*ParseVersion("7.2.4"), *ParseVersion("7.10"));
  EXPECT_LT(*ParseVersion("6.2.14"), *ParseVersion("7"));
  EXPECT_EQ(*ParseVersion("7.2"), *ParseVersion("7.2.0"));
}

TEST(VersionTest, OthersAreNone) {
  for (const char* text :
       {"", ".", "7.", ".7", "7.x", "7.2.4.1", "7.2.", "-7", "7.-2", "1000", "7 2", "07.2", "v7.2"}) {
    EXPECT_EQ(std::nullopt, ParseVersion(text)) << text;
  }
}

}  // namespace
}  // namespace respite
