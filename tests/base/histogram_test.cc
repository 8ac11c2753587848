#include "base/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace respite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(LatencyHistogram, StartsEmpty) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.Count(), 0U);
  EXPECT_EQ(histogram.ValueAtPercentile(50), 0U);
  EXPECT_THAT(histogram.CumulativeBucketsUs(), IsEmpty());
}

TEST(LatencyHistogram, ClampsToOneNanosecondAndOneSecond) {
  LatencyHistogram histogram;
  histogram.Record(0);
  EXPECT_EQ(histogram.ValueAtPercentile(100), 1U);
  histogram.Record(UINT64_MAX);
  EXPECT_EQ(histogram.ValueAtPercentile(0), 1U);
  EXPECT_EQ(histogram.ValueAtPercentile(100), 1'002'438'655U);  // the upper end of the bucket of 1 s
}

TEST(LatencyHistogram, IsExactBelow256AndWithinOnePercentAbove) {
  for (uint64_t value = 1; value <= 1'000'000'000; value += 1 + value / 37) {
    LatencyHistogram histogram;
    histogram.Record(value);
    const uint64_t low = histogram.ValueAtPercentile(0);
    const uint64_t high = histogram.ValueAtPercentile(50);
    ASSERT_LE(low, value);
    ASSERT_GE(high, value);
    ASSERT_LE(high - low, value < 256 ? 0 : value / 100);
  }
}

TEST(LatencyHistogram, FindsPercentiles) {
  LatencyHistogram histogram;
  for (uint64_t value = 1; value <= 200; value++) histogram.Record(value);
  EXPECT_EQ(histogram.Count(), 200U);
  EXPECT_EQ(histogram.ValueAtPercentile(50), 100U);
  EXPECT_EQ(histogram.ValueAtPercentile(99), 198U);
  EXPECT_EQ(histogram.ValueAtPercentile(99.9), 200U);
  EXPECT_EQ(histogram.ValueAtPercentile(100), 200U);
  EXPECT_EQ(histogram.ValueAtPercentile(150), 200U);
  EXPECT_EQ(histogram.ValueAtPercentile(0), 1U);
}

// The bounds are those that Redis reports, including 33 and 66.
TEST(LatencyHistogram, ReportsDoublingMicroseconds) {
  LatencyHistogram histogram;
  for (uint64_t us = 1; us <= 500'000; us *= 2) histogram.Record(us * 1000);
  EXPECT_THAT(
      histogram.CumulativeBucketsUs(),
      ElementsAre(Pair(1, 1), Pair(2, 2), Pair(4, 3), Pair(8, 4), Pair(16, 5), Pair(33, 6), Pair(66, 7), Pair(132, 8),
                  Pair(264, 9), Pair(528, 10), Pair(1056, 11), Pair(2113, 12), Pair(4227, 13), Pair(8454, 14),
                  Pair(16908, 15), Pair(33816, 16), Pair(67633, 17), Pair(135266, 18), Pair(270532, 19)));
}

TEST(LatencyHistogram, OmitsStepsWithoutCalls) {
  LatencyHistogram histogram;
  histogram.Record(500);
  histogram.Record(700);
  histogram.Record(1'000'000'000);
  EXPECT_THAT(histogram.CumulativeBucketsUs(), ElementsAre(Pair(1, 2), Pair(1'073'741, 3)));
}

TEST(LatencyHistogram, AgreesWithSortedValues) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(seed);
  Random random(seed);
  LatencyHistogram histogram;
  std::vector<uint64_t> values;
  for (int i = 0; i < 10'000; i++) {
    values.push_back(1 + random.Below(uint64_t{1} << random.Below(30)));
    histogram.Record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (size_t percent = 1; percent <= 100; percent++) {
    const uint64_t exact = values[percent * 100 - 1];
    const uint64_t found = histogram.ValueAtPercentile(static_cast<double>(percent));
    ASSERT_GE(found, exact);
    ASSERT_LE(found - exact, exact / 100);
  }
  EXPECT_EQ(histogram.CumulativeBucketsUs().back().second, 10'000U);
}

TEST(LatencyHistogram, ForgetsOnReset) {
  LatencyHistogram histogram;
  histogram.Record(1000);
  histogram.Reset();
  EXPECT_EQ(histogram.Count(), 0U);
  EXPECT_THAT(histogram.CumulativeBucketsUs(), IsEmpty());
}

}  // namespace
}  // namespace respite
