#include "datatypes/array.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

using Model = std::map<uint64_t, std::string>;

std::string AnyText(Random& random) {
  switch (random.Below(6)) {
    case 0:
      return "";
    case 1:
      return std::to_string(static_cast<int64_t>(random.Next() >> random.Below(64)));
    case 2:
      return std::to_string(-static_cast<int64_t>(random.Next() >> (1 + random.Below(63))));
    case 3:
      return std::string(random.Below(300), 'x');
    case 4:
      return StrCat("0", random.Below(100'000'000));
    default:
      return StrCat(random.Below(1000), ".", random.Below(1000));
  }
}

// An index among a few neighbours, in a few slices, or anywhere.
uint64_t AnyIndex(Random& random) {
  switch (random.Below(4)) {
    case 0:
      return random.Below(200);
    case 1:
      return 64 * random.Below(300) + 63 * random.Below(2);
    case 2:
      return ArrayTable::kMaxIndex - random.Below(100);
    default:
      return random.Next() >> (1 + random.Below(63));
  }
}

Model ContentOf(const ArrayTable& table) {
  Model content;
  table.VisitRange(0, ArrayTable::kMaxIndex, [&](uint64_t index, const ArrayElement& element) {
    content.emplace_hint(content.end(), index, ArrayText(element).View());
    return true;
  });
  return content;
}

TEST(ArrayElementTest, HoldsAnyText) {
  for (const Bytes text : {"", "a", "1234567", "12345678", "-12345678", "1700000000000", "2305843009213693951",
                           "2305843009213693952", "-2305843009213693952", "-2305843009213693953", "9223372036854775807",
                           "-9223372036854775808", "01234567890", "3.141592653589793"}) {
    const ArrayElement element = ArrayElement::Create(text);
    EXPECT_EQ(ArrayText(element).View(), text);
    ArrayElement::Destroy(element);
  }
  EXPECT_EQ(ArrayElement::Create("1700000000000").UsedBytes(), 0u);
  EXPECT_TRUE(ArrayElement::Create("-2305843009213693952").IsInteger());
  const ArrayElement large = ArrayElement::Create("2305843009213693952");
  EXPECT_FALSE(large.IsInteger());
  ArrayElement::Destroy(large);
}

TEST(ArrayElementTest, KnowsWhichFractionsRedisStoresAsNumbers) {
  EXPECT_EQ(StoredDoubleOf("0.5"), 0.5);
  EXPECT_EQ(StoredDoubleOf("1.0"), 1.0);
  EXPECT_EQ(StoredDoubleOf("-42.0"), -42.0);
  EXPECT_EQ(StoredDoubleOf("0.1"), std::nullopt);  // needs the lowest two bits
  EXPECT_EQ(StoredDoubleOf("1.50"), std::nullopt);
  EXPECT_EQ(StoredDoubleOf("15"), std::nullopt);
  EXPECT_EQ(StoredDoubleOf("1.5e3"), std::nullopt);
  EXPECT_EQ(StoredDoubleText(42), "42.0");
  EXPECT_EQ(StoredDoubleText(0.5), "0.5");
}

TEST(ArrayTest, RandomOperationsAgreeWithAMap) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  ArrayTable table;
  Model model;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t index = AnyIndex(random);
    const uint64_t kind = random.Below(100);
    if (kind < (step < 10'000 ? 70u : 20u)) {
      const std::string text = AnyText(random);
      ASSERT_EQ(table.Set(index, text), !model.contains(index));
      model[index] = text;
    } else if (kind < 95) {
      ASSERT_EQ(table.Erase(index), model.erase(index) == 1);
    } else {
      const uint64_t last = index + (ArrayTable::kMaxIndex - index) / 2 % 5000;
      const auto from = model.lower_bound(index);
      const auto to = model.upper_bound(last);
      ASSERT_EQ(table.CountRange(last, index), static_cast<uint64_t>(std::distance(from, to)));
      ASSERT_EQ(table.EraseRange(index, last), static_cast<uint64_t>(std::distance(from, to)));
      model.erase(from, to);
    }
    ASSERT_EQ(table.Count(), model.size());
    ASSERT_EQ(table.Length(), model.empty() ? 0 : model.rbegin()->first + 1);
    ASSERT_EQ(table.Get(index) != nullptr, model.contains(index));
    if (step % 1000 == 0) {
      ASSERT_TRUE(table.IsConsistent());
      ASSERT_EQ(ContentOf(table), model);
    }
  }
  table.SetLastInsert(7);
  const std::unique_ptr<Object> clone = table.Clone();
  EXPECT_EQ(ContentOf(static_cast<ArrayTable&>(*clone)), model);
  EXPECT_EQ(static_cast<ArrayTable&>(*clone).LastInsert(), 7u);
  EXPECT_EQ(table.EraseRange(0, ArrayTable::kMaxIndex), model.size());
  EXPECT_TRUE(table.IsConsistent());
  EXPECT_EQ(table.Slices(), 0u);
}

TEST(ArrayTest, VisitsRangesInBothDirections) {
  ArrayTable table;
  for (const uint64_t index : {0u, 1u, 63u, 64u, 130u, 5000u}) table.Set(index, std::to_string(index));
  const auto visited = [&](uint64_t from, uint64_t to, size_t limit = 99) {
    std::vector<uint64_t> indexes;
    table.VisitRange(from, to, [&](uint64_t index, const ArrayElement& element) {
      EXPECT_EQ(ArrayText(element).View(), std::to_string(index));
      indexes.push_back(index);
      return indexes.size() < limit;
    });
    return indexes;
  };
  using Indexes = std::vector<uint64_t>;
  EXPECT_EQ(visited(0, ArrayTable::kMaxIndex), (Indexes{0, 1, 63, 64, 130, 5000}));
  EXPECT_EQ(visited(ArrayTable::kMaxIndex, 0), (Indexes{5000, 130, 64, 63, 1, 0}));
  EXPECT_EQ(visited(1, 64), (Indexes{1, 63, 64}));
  EXPECT_EQ(visited(130, 1, 2), (Indexes{130, 64}));
  EXPECT_EQ(visited(65, 129), Indexes{});
  EXPECT_EQ(visited(64, 64), Indexes{64});
  EXPECT_EQ(visited(5001, 5001), Indexes{});
}

// A full array costs little more than its elements; a distant element also costs little.
TEST(ArrayTest, IsCompact) {
  ArrayTable full;
  for (uint64_t i = 0; i < 100'000; ++i) full.Set(i, "123456789");
  EXPECT_LT(full.UsedBytes(0), 100'000u * 9);
  ArrayTable sparse;
  for (uint64_t i = 0; i < 100'000; ++i) sparse.Set(i * 1'000'000'007, "x");
  EXPECT_LT(sparse.UsedBytes(0), 100'000u * 40);
  EXPECT_EQ(sparse.Slices(), 100'000u);
}

TEST(ArrayTest, KeepsTheNewestOfARing) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  for (int round = 0; round < 500; ++round) {
    const uint64_t span = 1 + random.Below(200);
    const uint64_t hole = random.Below(3) == 0 ? random.Below(span) : span;
    const uint64_t newest = random.Below(span);
    const uint64_t max_count = 1 + random.Below(span);
    ArrayTable table;
    for (uint64_t i = 0; i < span; ++i) table.Set(i, StrCat("element ", i));
    table.Erase(hole);
    std::deque<std::string> expected;
    for (uint64_t i = 0; i < max_count; ++i) {
      const uint64_t index = (newest + span - i) % span;
      if (index == hole) break;
      expected.push_front(StrCat("element ", index));
    }
    table.UnrollRing(newest, span, max_count);
    ASSERT_TRUE(table.IsConsistent());
    ASSERT_EQ(table.Count(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(ArrayText(*table.Get(i)).View(), expected[i]);
    ASSERT_EQ(table.LastInsert().has_value(), !expected.empty());
  }
}

}  // namespace
}  // namespace respite
