#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

namespace respite {
namespace {

TEST(Random, RepeatsItselfForOneSeedOnly) {
  Random a(42);
  Random b(42);
  Random c(43);
  bool differs = false;
  for (int i = 0; i < 100; i++) {
    const uint64_t number = a.Next();
    ASSERT_EQ(number, b.Next());
    differs = differs || number != c.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(Random, AcceptsSeedZero) {
  Random random(0);
  EXPECT_NE(random.Next() | random.Next() | random.Next(), 0U);
}

TEST(Random, StaysBelowItsBound) {
  Random random(1);
  for (const uint64_t bound : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1000}, (uint64_t{1} << 63) + 1,
                               std::numeric_limits<uint64_t>::max()}) {
    for (int i = 0; i < 1000; i++) ASSERT_LT(random.Below(bound), bound);
  }
}

TEST(Random, IsFairBelowABound) {
  Random random(7);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; i++) counts[random.Below(6)]++;
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);  // five standard deviations
}

// With a bound of 3/4 of the range, a plain remainder would hit the lowest third twice as often.
TEST(Random, IsFairBelowAnAwkwardBound) {
  Random random(7);
  constexpr uint64_t kThird = uint64_t{1} << 62;
  int lowest = 0;
  for (int i = 0; i < 30'000; i++) lowest += random.Below(3 * kThird) < kThird ? 1 : 0;
  EXPECT_NEAR(lowest, 10'000, 500);
}

TEST(Random, UnitIsAtLeastZeroAndBelowOne) {
  Random random(9);
  double sum = 0;
  for (int i = 0; i < 10'000; i++) {
    const double unit = random.Unit();
    ASSERT_GE(unit, 0);
    ASSERT_LT(unit, 1);
    sum += unit;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(SystemSeed, Differs) { EXPECT_NE(SystemSeed(), SystemSeed()); }

TEST(RandomHex, HasThatManyDigits) {
  for (const size_t digits : {0U, 1U, 2U, 40U, 41U, 1001U}) {
    const std::string text = RandomHex(digits);
    EXPECT_EQ(text.size(), digits);
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
  EXPECT_NE(RandomHex(40), RandomHex(40));
  EXPECT_GT(RandomHex(1000).find_last_not_of('0'), 900U);
}

TEST(DerivedSeed, DiffersByNumberAndSeed) {
  std::set<uint64_t> seeds;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    for (uint64_t number = 0; number < 30; ++number) seeds.insert(DerivedSeed(seed, number));
  }
  EXPECT_EQ(seeds.size(), 900U);
  EXPECT_EQ(DerivedSeed(1, 2), DerivedSeed(1, 2));
}

TEST(IdSource, FollowsItsSeed) {
  IdSource one(5);
  IdSource same(5);
  IdSource other(6);
  const std::string id = one.Hex(41);
  EXPECT_EQ(id.size(), 41U);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(id, same.Hex(41));
  EXPECT_NE(id, other.Hex(41));
  EXPECT_NE(id, one.Hex(41));
  EXPECT_NE(IdSource().Hex(40), IdSource().Hex(40));
}

}  // namespace
}  // namespace respite
