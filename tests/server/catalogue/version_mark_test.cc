#include "server/catalogue/version_mark.h"

#include <gtest/gtest.h>

namespace respite {
namespace {

constexpr ServerVersion Redis(Version version) { return {ServerFamily::kRedis, version}; }
constexpr ServerVersion Valkey(Version version) { return {ServerFamily::kValkey, version}; }

TEST(VersionMark, ANumberOfRedisCountsForValkeyUpToItsBeginning) {
  constexpr VersionMark kOld("6.2.0");
  EXPECT_TRUE(kOld.IsIn(Redis({6, 2, 0})));
  EXPECT_TRUE(kOld.IsIn(Redis({7, 2, 4})));
  EXPECT_FALSE(kOld.IsIn(Redis({6, 0, 16})));
  EXPECT_TRUE(kOld.IsIn(Valkey({7, 2, 5})));

  constexpr VersionMark kNew("7.4.0");
  EXPECT_TRUE(kNew.IsIn(Redis({7, 4, 0})));
  EXPECT_FALSE(kNew.IsIn(Redis({7, 2, 13})));
  EXPECT_FALSE(kNew.IsIn(Valkey({8, 1, 0})));
}

TEST(VersionMark, ANumberOfValkeyCountsForValkeyAlone) {
  constexpr VersionMark kMark("valkey:8.1.0");
  EXPECT_TRUE(kMark.IsIn(Valkey({8, 1, 0})));
  EXPECT_FALSE(kMark.IsIn(Valkey({8, 0, 9})));
  EXPECT_FALSE(kMark.IsIn(Redis({8, 4, 0})));
  EXPECT_EQ(kMark.Shown(), "8.1.0");
  EXPECT_EQ(kMark.Text(), "Valkey 8.1.0");
}

TEST(VersionMark, BothCanHaveIt) {
  constexpr VersionMark kMark("8.0.0,valkey:9.0.0");
  EXPECT_TRUE(kMark.IsIn(Redis({8, 0, 0})));
  EXPECT_FALSE(kMark.IsIn(Valkey({8, 1, 0})));
  EXPECT_TRUE(kMark.IsIn(Valkey({9, 0, 0})));
  EXPECT_EQ(kMark.Shown(), "8.0.0");
  EXPECT_EQ(kMark.Text(), "8.0.0 and Valkey 9.0.0");
}

TEST(VersionMark, WithoutAMarkAllHaveIt) {
  EXPECT_TRUE(VersionMark().IsIn(Redis({1, 0, 0})));
  EXPECT_TRUE(VersionMark("").IsIn(Valkey({7, 2, 5})));
  EXPECT_EQ(VersionMark().Shown(), "");
}

TEST(VersionMark, KnowsItsForm) {
  for (const char* mark : {"", "7.4.0", "7.4", "10", "valkey:8.1.0", "8.0.0,valkey:9.0.0"})
    EXPECT_TRUE(VersionMark(mark).IsWellFormed()) << mark;
  for (const char* mark : {"valkey:", "7.", "7..4", "redis:7.4.0", "8.0.0,", "8.0.0,9.0.0", "valkey:8.1.0,8.0.0",
                           ",valkey:9.0.0", "8.0.0valkey:9.0.0", "7.4.0 ", ".1"})
    EXPECT_FALSE(VersionMark(mark).IsWellFormed()) << mark;
  EXPECT_EQ(VersionMark::LengthIn("3.0.6..."), 5u);
  EXPECT_EQ(VersionMark::LengthIn("8.0.0,valkey:9.0.0...]"), 18u);
}

}  // namespace
}  // namespace respite
