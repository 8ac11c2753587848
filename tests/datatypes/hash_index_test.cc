#include "datatypes/hash_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/memory.h"
#include "base/str_cat.h"

namespace respite {
namespace {

// Counts how often its key is read: the unit of cost of the table.
struct IndexItem {
  explicit IndexItem(std::string text) : key(std::move(text)) {}
  Bytes Key() const {
    ++looks;
    return key;
  }
  std::string key;
  static inline uint64_t looks = 0;
};

// A HashIndex and its model, a map.
template <class Hasher>
class IndexModelOf {
 public:
  IndexModelOf(uint64_t seed, const Hasher& hasher) : random(seed), index(hasher) {}
  explicit IndexModelOf(uint64_t seed) requires std::is_same_v<Hasher, KeyedHasher>
      : IndexModelOf(seed, KeyedHasher{HashKey{seed}}) {}

  bool Insert(const std::string& key) {
    if (items.contains(key)) return false;
    auto item = std::make_unique<IndexItem>(key);
    index.Insert(item.get(), index.Hash(key));
    items.emplace(key, std::move(item));
    return true;
  }
  void Remove(const std::string& key) {
    auto found = items.find(key);
    IndexItem* expected = found == items.end() ? nullptr : found->second.get();
    ASSERT_EQ(index.Remove(key, index.Hash(key)), expected) << key;
    if (found != items.end()) items.erase(found);
  }
  // The item moves in memory.
  void Move(const std::string& key) {
    auto moved = std::make_unique<IndexItem>(key);
    index.Replace(items[key].get(), moved.get(), index.Hash(key));
    items[key] = std::move(moved);
  }
  void Check() const {
    ASSERT_EQ(index.Size(), items.size());
    ASSERT_TRUE(index.IsConsistent());
    for (const auto& [key, item] : items) ASSERT_EQ(index.Find(key, index.Hash(key)), item.get()) << key;
    std::set<const IndexItem*> visited;
    index.ForEach([&](const IndexItem* item) { ASSERT_TRUE(visited.insert(item).second) << item->key; });
    ASSERT_EQ(visited.size(), items.size());
  }

  Random random;
  HashIndex<IndexItem*, Hasher> index;
  std::unordered_map<std::string, std::unique_ptr<IndexItem>> items;
};
using IndexModel = IndexModelOf<KeyedHasher>;

std::string KeyOf(uint64_t number) { return StrCat("key:", number); }

TEST(HashIndexTest, EmptyTable) {
  HashIndex<IndexItem*> index(HashKey{1});
  Random random(1);
  EXPECT_EQ(index.Find("k", index.Hash("k")), nullptr);
  EXPECT_EQ(index.Remove("k", index.Hash("k")), nullptr);
  EXPECT_EQ(index.PickRandom(random), nullptr);
  EXPECT_EQ(index.Scan(0, [](IndexItem*) { FAIL(); }), 0u);
  EXPECT_EQ(index.Scan(12345678, [](IndexItem*) { FAIL(); }), 0u);
  EXPECT_TRUE(index.IsConsistent());
}

template <class AnyModel>
void DoRandomOperations(AnyModel& model, uint64_t range) {
  for (uint64_t step = 0; step < 3 * range + 300; ++step) {
    std::string key = KeyOf(model.random.Below(range));
    switch (model.random.Below(4)) {
      case 0:
        ASSERT_NO_FATAL_FAILURE(model.Remove(key));
        break;
      case 1:
        if (model.items.contains(key)) model.Move(key);
        break;
      default:
        model.Insert(key);
    }
    if (step % (range / 2 + 1) == 0) {
      ASSERT_NO_FATAL_FAILURE(model.Check()) << "step " << step;
    }
  }
  ASSERT_NO_FATAL_FAILURE(model.Check());
}

TEST(HashIndexTest, RandomOperationsAgreeWithAMap) {
  uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  for (uint64_t range : {3u, 100u, 2'000u, 20'000u}) {
    IndexModel model(seed + range);
    ASSERT_NO_FATAL_FAILURE(DoRandomOperations(model, range));
    EXPECT_EQ(model.index.CollisionCount(), 0u);
  }
}

TEST(HashIndexTest, GrowsAndShrinks) {
  constexpr uint64_t kKeys = 60'000;
  IndexModel model(7);
  for (uint64_t i = 0; i < kKeys; ++i) model.Insert(KeyOf(i));
  ASSERT_NO_FATAL_FAILURE(model.Check());
  EXPECT_LT(model.index.Capacity(), kKeys * 2);
  size_t full_bytes = model.index.UsedBytes();
  for (uint64_t i = 0; i < kKeys; ++i) {
    ASSERT_NO_FATAL_FAILURE(model.Remove(KeyOf(i)));
    if (i % 7919 == 0) {
      ASSERT_TRUE(model.index.IsConsistent());
    }
  }
  EXPECT_EQ(model.index.Size(), 0u);
  EXPECT_TRUE(model.index.IsConsistent());
  EXPECT_LT(model.index.UsedBytes(), full_bytes / 20);
}

TEST(HashIndexTest, ReservedRoomIsFilledWithoutSplitting) {
  constexpr uint64_t kItems = 20'000;
  IndexModel model(5);
  model.index.Reserve(kItems);
  EXPECT_TRUE(model.index.IsConsistent());
  EXPECT_EQ(model.index.Find("k", model.index.Hash("k")), nullptr);
  EXPECT_EQ(model.index.PickRandom(model.random), nullptr);
  const size_t pages = model.index.PageCount();
  EXPECT_GE(pages, kItems / 441);
  EXPECT_LE(pages, kItems / 200 + 1);
  for (uint64_t i = 0; i < kItems; ++i) model.Insert(KeyOf(i));
  EXPECT_LE(model.index.PageCount(), pages + pages / 10);
  model.Check();
  model.index.Reserve(10 * kItems);  // has no effect now
  model.Check();
  for (uint64_t i = 0; i < kItems; ++i) model.Remove(KeyOf(i));
  model.Check();
  EXPECT_LT(model.index.PageCount(), pages / 4);
}

TEST(HashIndexTest, BucketsDrawnAtRandomShowEverySlotAlike) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  for (uint64_t keys : {5u, 100u, 3000u}) {
    IndexModel model(seed + keys);
    for (uint64_t i = 0; i < keys; ++i) model.Insert(KeyOf(i));
    std::unordered_map<const IndexItem*, double> counts;
    const double draws = 300.0 * static_cast<double>(model.index.Capacity()) / 8;
    for (double i = 0; i < draws; ++i)
      model.index.VisitRandomBucket(model.random, [&](const IndexItem* item) { ++counts[item]; });
    ASSERT_EQ(counts.size(), keys);
    for (const auto& [item, count] : counts) EXPECT_NEAR(count, 300, 130) << "7 σ " << item->key;
  }
}

TEST(HashIndexTest, KnowsASlotByItself) {
  IndexModel model(11);
  IndexItem stranger("key:1");
  EXPECT_FALSE(model.index.Has(&stranger, model.index.Hash("key:1")));
  for (uint64_t i = 0; i < 2000; ++i) model.Insert(KeyOf(i));
  for (const auto& [key, item] : model.items) EXPECT_TRUE(model.index.Has(item.get(), model.index.Hash(key)));
  EXPECT_FALSE(model.index.Has(&stranger, model.index.Hash("key:1")));
  EXPECT_FALSE(model.index.Replace(&stranger, &stranger, model.index.Hash("key:1")));
}

TEST(HashIndexTest, NoStepDependsOnTheSize) {
  constexpr uint64_t kKeys = 200'000;
  constexpr uint64_t kLooksAtMost = 600;  // a page has 441 places
  std::vector<IndexItem> items;
  items.reserve(kKeys);
  HashIndex<IndexItem*> index(HashKey{3});
  uint64_t longest = 0;
  for (uint64_t i = 0; i < kKeys; ++i) {
    items.emplace_back(KeyOf(i));
    uint64_t before = IndexItem::looks;
    index.Insert(&items.back(), index.Hash(items.back().key));
    longest = std::max(longest, IndexItem::looks - before);
  }
  EXPECT_LE(longest, kLooksAtMost);
  longest = 0;
  for (const IndexItem& item : items) {
    uint64_t before = IndexItem::looks;
    index.Remove(item.key, index.Hash(item.key));
    longest = std::max(longest, IndexItem::looks - before);
  }
  EXPECT_LE(longest, kLooksAtMost);
}

// Growth, splits and merges read the hints of the table instead of the items, except in the steps from depth 6 to 7
// and back, which renew the hints.
TEST(HashIndexTest, SplitsAndMergesReadNoItem) {
  constexpr uint64_t kKeys = 1'000'000;
  IndexModel model(11);
  std::vector<IndexItem> items;
  items.reserve(kKeys);
  for (uint64_t i = 0; i < kKeys; ++i) items.emplace_back(std::to_string(i));
  IndexItem::looks = 0;
  uint64_t late = 0;
  for (IndexItem& item : items) {
    if (&item - items.data() == kKeys / 2) late = IndexItem::looks;
    model.index.Insert(&item, model.index.Hash(item.key));
  }
  EXPECT_LT(IndexItem::looks, kKeys / 10);  // the pages reach depth 7 when they hold 25 000 to 60 000
  EXPECT_EQ(IndexItem::looks, late);
  ASSERT_TRUE(model.index.IsConsistent());
  IndexItem::looks = 0;
  for (IndexItem& item : items) {
    if (&item - items.data() >= 1000) model.index.Remove(item.key, model.index.Hash(item.key));
  }
  EXPECT_LT(IndexItem::looks, 2 * kKeys);  // reads the item, and sometimes another one with the same tag
  ASSERT_TRUE(model.index.IsConsistent());
}

// The pages of a table of more than 512 pages move in memory, so that no gaps are left between them.
TEST(HashIndexTest, ALargeTableHasNoGaps) {
  constexpr uint64_t kKeys = 300'000;
  IndexModel model(12);
  for (uint64_t i = 0; i < kKeys; ++i) {
    model.Insert(KeyOf(i));
    if (i % 50'000 == 0) {
      ASSERT_TRUE(model.index.IsConsistent()) << i;
    }
  }
  EXPECT_LT(model.index.UsedBytes(), kKeys * 11);
  for (uint64_t i = 0; i < kKeys; ++i) {
    if (i % 5 != 0) model.Remove(KeyOf(i));
    if (i % 50'000 == 0) {
      ASSERT_TRUE(model.index.IsConsistent()) << i;
    }
  }
  ASSERT_NO_FATAL_FAILURE(model.Check());
  EXPECT_LT(model.index.UsedBytes(), model.items.size() * 23) << "a page with fewer than 4 items per bucket shrinks";
  for (uint64_t i = 1000; i < kKeys; ++i) model.Remove(KeyOf(i));
  ASSERT_NO_FATAL_FAILURE(model.Check());
  EXPECT_EQ(model.index.Size(), 200u);
  EXPECT_LT(model.index.UsedBytes(), 70'000u) << "a small table has no store of pages";
}

TEST(HashIndexTest, Clear) {
  IndexModel model(9);
  for (uint64_t i = 0; i < 300'000; ++i) model.Insert(KeyOf(i));
  model.index.Clear();
  EXPECT_EQ(model.index.Size(), 0u);
  EXPECT_LT(model.index.UsedBytes(), 100u) << "both directories are freed";
  EXPECT_TRUE(model.index.IsConsistent());
  EXPECT_EQ(model.index.Find("key:1", model.index.Hash("key:1")), nullptr);
  model.items.clear();
  model.Insert("again");
  ASSERT_NO_FATAL_FAILURE(model.Check());
}

TEST(HashIndexTest, MovesAsAWhole) {
  IndexModel model(10);
  for (uint64_t i = 0; i < 2000; ++i) model.Insert(KeyOf(i));
  HashIndex<IndexItem*> moved = std::move(model.index);
  EXPECT_EQ(moved.Size(), 2000u);
  EXPECT_EQ(moved.Find("key:5", moved.Hash("key:5")), model.items["key:5"].get());
  HashIndex<IndexItem*> other(HashKey{11});
  other = std::move(moved);
  EXPECT_EQ(other.Size(), 2000u);
  EXPECT_TRUE(other.IsConsistent());
}

TEST(HashIndexTest, ScanOfAQuietTableVisitsEachOnce) {
  for (uint64_t keys : {1u, 7u, 440u, 442u, 30'000u}) {
    IndexModel model(keys);
    for (uint64_t i = 0; i < keys; ++i) model.Insert(KeyOf(i));
    std::multiset<std::string> seen;
    uint64_t cursor = 0;
    do {
      cursor = model.index.Scan(cursor, [&](const IndexItem* item) { seen.insert(item->key); });
      ASSERT_LT(cursor, uint64_t{1} << 53);
    } while (cursor != 0);
    EXPECT_EQ(seen.size(), keys);
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), keys);
  }
}

// Scans while other items come and go; the scan must return every item that stays.
struct ScanUnderChange {
  const char* name;
  uint64_t others_at_start;
  uint64_t insert_percent;  // percentage of insertions among the changes; the rest are removals
  uint64_t changes_per_step;
};

class ScanGuarantee : public testing::TestWithParam<ScanUnderChange> {};

INSTANTIATE_TEST_SUITE_P(
    Changes, ScanGuarantee,
    testing::Values(ScanUnderChange{"Growing", 0, 100, 20}, ScanUnderChange{"Shrinking", 40'000, 0, 40},
                    ScanUnderChange{"Churning", 5'000, 50, 50}, ScanUnderChange{"ShrinkingSlowly", 5'000, 20, 3},
                    ScanUnderChange{"GrowingSlowly", 100, 80, 3},
                    ScanUnderChange{"ShrinkingFromManyPages", kIsSanitized ? 60'000 : 300'000, 0, 1000}),
    [](const auto& change) { return std::string(change.param.name); });

class Churn {
 public:
  Churn(const ScanUnderChange& change, uint64_t seed) : change_(change), model_(seed) {
    for (uint64_t i = 0; i < kStaying; ++i) model_.Insert(StrCat("staying:", i));
    for (uint64_t i = 0; i < change.others_at_start; ++i) Add();
  }
  void Change() {
    for (uint64_t i = 0; i < change_.changes_per_step; ++i) {
      if (model_.random.Below(100) < change_.insert_percent) {
        if (others_.size() < 60'000) Add();
      } else if (!others_.empty()) {
        std::swap(others_[model_.random.Below(others_.size())], others_.back());
        model_.Remove(others_.back());
        others_.pop_back();
      }
    }
  }
  // Names of the staying elements that a scan returns.
  std::set<std::string> Scan() {
    std::set<std::string> seen;
    uint64_t cursor = 0;
    for (uint64_t step = 0; step < 1'000'000; ++step) {
      cursor = model_.index.Scan(cursor, [&](const IndexItem* item) {
        if (item->key[0] == 's') seen.insert(item->key);
      });
      if (cursor == 0) return seen;
      Change();
    }
    ADD_FAILURE() << "the scan never ends";
    return seen;
  }
  IndexModel& model() { return model_; }

  static constexpr uint64_t kStaying = 1000;

 private:
  void Add() {
    others_.push_back(StrCat("x", model_.random.Next()));
    if (!model_.Insert(others_.back())) others_.pop_back();
  }

  ScanUnderChange change_;
  IndexModel model_;
  std::vector<std::string> others_;
};

TEST_P(ScanGuarantee, WhatStaysIsSeen) {
  uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  for (uint64_t round = 0; round < 4; ++round) {
    Churn churn(GetParam(), seed + round);
    EXPECT_EQ(churn.Scan().size(), Churn::kStaying) << "round " << round;
    EXPECT_TRUE(churn.model().index.IsConsistent());
  }
}

TEST(HashIndexTest, AnyCursorIsAccepted) {
  uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  IndexModel model(seed);
  for (uint64_t i = 0; i < 3000; ++i) model.Insert(KeyOf(i));
  for (int i = 0; i < 2000; ++i) {
    uint64_t cursor = model.random.Next() >> model.random.Below(64);
    for (int step = 0; step < 3; ++step) cursor = model.index.Scan(cursor, [](const IndexItem*) {});
  }
  for (uint64_t cursor : {~uint64_t{0}, uint64_t{1} << 53, (uint64_t{1} << 53) - 1, uint64_t{63}}) {
    model.index.Scan(cursor, [](const IndexItem*) {});
  }
  EXPECT_TRUE(model.index.IsConsistent());
}

// Chi-square over `draws` picks; about `degrees` if picks are uniform.
double ChiSquare(IndexModel& model, uint64_t draws) {
  std::unordered_map<const IndexItem*, uint64_t> counts;
  for (uint64_t i = 0; i < draws; ++i) ++counts[model.index.PickRandom(model.random)];
  double expected = static_cast<double>(draws) / static_cast<double>(model.items.size());
  double sum = 0;
  for (const auto& [key, item] : model.items) {
    double difference = static_cast<double>(counts[item.get()]) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

TEST(HashIndexTest, PickRandomIsFair) {
  constexpr uint64_t kLeft = 1000;
  // Mean 999, standard deviation 45: six of them exclude a false alarm with these fixed seeds.
  constexpr double kChiSquareAtMost = 999 + 6 * 45;
  IndexModel grown(42);
  for (uint64_t i = 0; i < kLeft; ++i) grown.Insert(KeyOf(i));
  EXPECT_LT(ChiSquare(grown, 100'000), kChiSquareAtMost);
  // The pages differ much in fill and depth.
  IndexModel shrunk(43);
  for (uint64_t i = 0; i < 20 * kLeft; ++i) shrunk.Insert(KeyOf(i));
  for (uint64_t i = kLeft; i < 20 * kLeft; ++i) shrunk.Remove(KeyOf(i));
  EXPECT_LT(ChiSquare(shrunk, 100'000), kChiSquareAtMost);
}

}  // namespace
}  // namespace respite
