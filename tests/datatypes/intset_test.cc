#include "datatypes/intset.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <vector>

#include "base/random.h"

namespace respite {
namespace {

std::vector<int64_t> ValuesOf(Bytes bytes) {
  const Intset intset(bytes);
  std::vector<int64_t> values;
  for (size_t i = 0; i < intset.Count(); ++i) values.push_back(intset.At(i));
  return values;
}

TEST(IntsetTest, TheBytesOfTheExample) {
  StringStore store(Intset::Empty());
  EXPECT_TRUE(AddToIntset(store, 300));
  EXPECT_TRUE(AddToIntset(store, 1));
  EXPECT_FALSE(AddToIntset(store, 300));
  EXPECT_EQ(store.View(), Bytes("\x02\0\0\0\x02\0\0\0\x01\0\x2c\x01", 12));
}

TEST(IntsetTest, AWiderValueWidensAllAndNoneNarrows) {
  StringStore store(Intset::Empty());
  AddToIntset(store, 5);
  EXPECT_EQ(Intset(store.View()).Width(), 2u);
  AddToIntset(store, -70'000);
  EXPECT_EQ(Intset(store.View()).Width(), 4u);
  AddToIntset(store, 1ll << 40);
  EXPECT_EQ(Intset(store.View()).Width(), 8u);
  EXPECT_EQ(ValuesOf(store.View()), (std::vector<int64_t>{-70'000, 5, 1ll << 40}));
  EXPECT_TRUE(RemoveFromIntset(store, 1ll << 40));
  EXPECT_FALSE(RemoveFromIntset(store, 1ll << 40));
  EXPECT_EQ(Intset(store.View()).Width(), 8u);
  EXPECT_EQ(ValuesOf(store.View()), (std::vector<int64_t>{-70'000, 5}));
}

TEST(IntsetTest, EachWidthHoldsItsExtremes) {
  using Limits16 = std::numeric_limits<int16_t>;
  using Limits32 = std::numeric_limits<int32_t>;
  using Limits64 = std::numeric_limits<int64_t>;
  const std::vector<int64_t> values = {Limits64::min(), Limits32::min(), Limits16::min(),
                                       Limits16::max(), Limits32::max(), Limits64::max()};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Intset::WidthOf(values[2 - i]), 2u << i);
    EXPECT_EQ(Intset::WidthOf(values[3 + i]), 2u << i);
  }
  StringStore store(Intset::Empty());
  for (size_t i : {2u, 3u, 1u, 4u, 0u, 5u}) EXPECT_TRUE(AddToIntset(store, values[i]));
  EXPECT_EQ(ValuesOf(store.View()), values);
  for (int64_t value : values) EXPECT_TRUE(Intset(store.View()).Contains(value));
}

TEST(IntsetTest, WellFormed) {
  StringStore store(Intset::Empty());
  EXPECT_TRUE(Intset::IsWellFormed(store.View()));
  for (int64_t value : {1, 2, 3}) AddToIntset(store, value);
  const std::string good(store.View());
  EXPECT_TRUE(Intset::IsWellFormed(good));
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(Intset::IsWellFormed(Bytes(good).substr(0, size)));
  auto with = [&](size_t at, char byte) {
    std::string bad = good;
    bad[at] = byte;
    return bad;
  };
  EXPECT_FALSE(Intset::IsWellFormed(with(0, 3)));     // no such width
  EXPECT_FALSE(Intset::IsWellFormed(with(4, 2)));     // more bytes than values
  EXPECT_FALSE(Intset::IsWellFormed(with(10, 1)));    // two equal values
  EXPECT_FALSE(Intset::IsWellFormed(with(9, 0x7f)));  // out of order
}

TEST(IntsetTest, RandomOperationsAgreeWithASet) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  for (int round = 0; round < 20; ++round) {
    StringStore store(Intset::Empty());
    std::set<int64_t> model;
    for (int step = 0; step < 400; ++step) {
      const int64_t value = static_cast<int64_t>(random.Next()) >> (random.Below(2) == 0 ? 58 : random.Below(64));
      if (random.Below(3) != 0) {
        ASSERT_EQ(AddToIntset(store, value), model.insert(value).second);
      } else {
        ASSERT_EQ(RemoveFromIntset(store, value), model.erase(value) == 1);
      }
      ASSERT_TRUE(Intset::IsWellFormed(store.View()));
      const Intset intset(store.View());
      ASSERT_EQ(intset.Contains(value), model.contains(value));
      ASSERT_EQ(intset.LowerBound(value), static_cast<size_t>(std::distance(model.begin(), model.lower_bound(value))));
    }
    ASSERT_EQ(ValuesOf(store.View()), std::vector<int64_t>(model.begin(), model.end()));
  }
}

}  // namespace
}  // namespace respite
