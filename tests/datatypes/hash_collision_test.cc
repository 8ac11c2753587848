// Simulates an attacker who knows the hash: every operation keeps its cost bound, and memory its limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/hash_index.h"

namespace respite {
namespace {

constexpr HashKey kKnown{1, 2};

// The worst possible hashes. Each test name says what the hashes have in common.
struct AllEqual {
  uint64_t operator()(Bytes) const { return 42; }
};
struct AllZero {
  uint64_t operator()(Bytes) const { return 0; }
};
struct AllOnes {
  uint64_t operator()(Bytes) const { return UINT64_MAX; }
};
struct FourValues {
  uint64_t operator()(Bytes key) const { return (HashBytes(key, kKnown) & 3) * 0x4000000040000000; }
};
struct EqualDirectoryBits {
  uint64_t operator()(Bytes key) const { return HashBytes(key, kKnown) >> 30 | uint64_t{0xabcdef12} << 34; }
};
struct EqualHomes {
  uint64_t operator()(Bytes key) const { return HashBytes(key, kKnown) << 32 | 0x80000000; }
};
struct EqualTags {
  uint64_t operator()(Bytes key) const { return HashBytes(key, kKnown) | uint64_t{0x7f} << 32; }
};
struct LastBitsOnly {
  uint64_t operator()(Bytes key) const { return HashBytes(key, kKnown) & 0xff; }
};
// Each split separates the smallest possible part, so the directory reaches its maximum depth.
struct Staircase {
  uint64_t operator()(Bytes key) const { return UINT64_MAX >> (HashBytes(key, kKnown) % 64); }
};
struct Good {
  uint64_t operator()(Bytes key) const { return HashBytes(key, kKnown); }
};

struct Item {
  explicit Item(std::string text) : key(std::move(text)) {}
  Bytes Key() const {
    ++looks;
    return key;
  }
  std::string key;
  static inline uint64_t looks = 0;  // the unit of cost of a table
};

template <class Hasher>
class HashCollision : public testing::Test {
 protected:
  // Inserts items until there are `count`. Keys of equal hash come sorted, reversed, and in random order.
  void FillTo(uint64_t count) {
    for (uint64_t i = items_.size(); i < count; ++i) {
      const uint64_t number = i % 3 == 0 ? i : i % 3 == 1 ? 1'000'000'000 - i : random_.Next() % 1'000'000'000 * 3 + 2;
      auto item = std::make_unique<Item>(StrCat("key:", number));
      if (index_.Find(item->key, index_.Hash(item->key)) != nullptr) continue;
      Insert(std::move(item));
    }
  }
  void Insert(std::unique_ptr<Item> item) {
    index_.Insert(item.get(), index_.Hash(item->key));
    items_.push_back(std::move(item));
  }
  void RemoveLast() {
    const Item& item = *items_.back();
    ASSERT_EQ(index_.Remove(item.key, index_.Hash(item.key)), &item) << item.key;
    items_.pop_back();
  }
  std::set<std::string> Scan() {
    std::set<std::string> seen;
    uint64_t cursor = 0;
    do {
      cursor = index_.Scan(cursor, [&](const Item* item) { EXPECT_TRUE(seen.insert(item->key).second) << item->key; });
    } while (cursor != 0);
    return seen;
  }

  uint64_t seed_ = SystemSeed();
  testing::ScopedTrace trace_{__FILE__, __LINE__, StrCat("seed ", seed_)};
  Random random_{seed_};
  HashIndex<Item*, Hasher> index_{Hasher{}};
  std::vector<std::unique_ptr<Item>> items_;
};

using Hashers = testing::Types<AllEqual, AllZero, AllOnes, FourValues, EqualDirectoryBits, EqualHomes, EqualTags,
                               LastBitsOnly, Staircase, Good>;
TYPED_TEST_SUITE(HashCollision, Hashers);

TYPED_TEST(HashCollision, EveryItemIsFoundAndCanGo) {
  this->FillTo(3000);
  ASSERT_TRUE(this->index_.IsConsistent());
  EXPECT_EQ(this->index_.Size(), this->items_.size());
  for (const auto& item : this->items_) EXPECT_TRUE(this->index_.Has(item.get(), this->index_.Hash(item->key)));
  EXPECT_EQ(this->index_.Find("none", this->index_.Hash("none")), nullptr);
  EXPECT_EQ(this->index_.Remove("none", this->index_.Hash("none")), nullptr);
  EXPECT_EQ(this->Scan().size(), this->items_.size());
  size_t visited = 0;
  this->index_.ForEach([&](const Item*) { ++visited; });
  EXPECT_EQ(visited, this->items_.size());
  EXPECT_TRUE(this->index_.ForEachWhile([&](const Item*) { return visited-- != 0; }));
  std::shuffle(this->items_.begin(), this->items_.end(), std::minstd_rand(static_cast<unsigned>(this->seed_)));
  while (!this->items_.empty()) {
    ASSERT_NO_FATAL_FAILURE(this->RemoveLast());
    if (this->items_.size() % 500 != 0) continue;
    ASSERT_TRUE(this->index_.IsConsistent()) << this->items_.size();
  }
  EXPECT_EQ(this->index_.CollisionCount(), 0u);
  EXPECT_EQ(this->index_.Size(), 0u);
}

// A chunk that becomes empty beside a nearly full neighbour is removed, so a search never looks for its last item.
TEST(CollisionListTest, AnEmptyChunkGoesWhateverItsNeighbourHolds) {
  CollisionList<Item*> list;
  std::vector<std::unique_ptr<Item>> items;
  for (int i = 1000; i < 1000 + 2 * 255; ++i) items.push_back(std::make_unique<Item>(std::to_string(i)));
  for (const auto& item : items) list.Insert(item.get(), 7);
  items.push_back(std::make_unique<Item>("2000"));
  items.push_back(std::make_unique<Item>("2001"));  // one too many: the chunk splits into 255 and 257 items
  list.Insert(items[510].get(), 7);
  list.Insert(items[511].get(), 7);
  for (int i = 2002; i < 2202; ++i) {
    items.push_back(std::make_unique<Item>(std::to_string(i)));
    list.Insert(items.back().get(), 7);
  }
  const size_t two_chunks = list.UsedBytes();
  for (size_t i = 0; i < 255; ++i) list.Remove(items[i]->key, 7);
  EXPECT_LT(list.UsedBytes(), two_chunks);
  EXPECT_EQ(list.Size(), items.size() - 255);
  for (size_t i = 0; i < items.size(); ++i)
    EXPECT_EQ(list.Find(items[i]->key, 7) != nullptr, i >= 255) << items[i]->key;
}

TYPED_TEST(HashCollision, ItemsMoveInMemory) {
  this->FillTo(2000);
  for (auto& item : this->items_) {
    auto moved = std::make_unique<Item>(item->key);
    const uint64_t hash = this->index_.Hash(item->key);
    item->key = "gone";  // simulates a freed item
    ASSERT_TRUE(this->index_.Replace(item.get(), moved.get(), hash));
    item = std::move(moved);
  }
  EXPECT_TRUE(this->index_.IsConsistent());
}

TYPED_TEST(HashCollision, ChangesAtRandomLeaveItSound) {
  for (int round = 0; round < 60; ++round) {
    if (this->random_.Below(2) == 0) {
      this->FillTo(this->items_.size() + this->random_.Below(700));
    } else {
      for (uint64_t n = this->random_.Below(700); n != 0 && !this->items_.empty(); --n)
        ASSERT_NO_FATAL_FAILURE(this->RemoveLast());
    }
    ASSERT_TRUE(this->index_.IsConsistent()) << "round " << round;
  }
  EXPECT_EQ(this->Scan().size(), this->items_.size());
}

TYPED_TEST(HashCollision, DrawsAreFair) {
  this->FillTo(1000);
  std::unordered_map<const Item*, double> counts;
  constexpr double kDraws = 200;  // draws of each item
  for (double i = 0; i < kDraws * 1000; ++i) ++counts[this->index_.PickRandom(this->random_)];
  for (const auto& item : this->items_) EXPECT_NEAR(counts[item.get()], kDraws, 8 * std::sqrt(kDraws)) << item->key;
  size_t seen = 0;
  std::set<const Item*> met;
  for (int i = 0; i < 100'000; ++i) {
    this->index_.VisitRandomBucket(this->random_, [&](const Item* item) {
      ++seen;
      met.insert(item);
    });
  }
  EXPECT_EQ(met.size(), this->items_.size());
}

TYPED_TEST(HashCollision, AMillionCostWhatIsStated) {
  constexpr uint64_t kItems = kIsSanitized ? 100'000 : 1'000'000;  // with a sanitizer, a million take 10 s
  constexpr uint64_t kLooksAtMost = 2 * 441 + 64;  // a page that is split or searched, plus a search among a million
  uint64_t longest = 0;
  this->items_.reserve(kItems);
  for (uint64_t i = 0; i < kItems; ++i) {
    auto item = std::make_unique<Item>(std::to_string(i * 7919 % kItems));
    const uint64_t before = Item::looks;
    this->Insert(std::move(item));
    longest = std::max(longest, Item::looks - before);
  }
  EXPECT_LE(longest, kLooksAtMost);
  EXPECT_LE(this->index_.UsedBytes(), kItems * 64);
  longest = 0;
  for (uint64_t i = 0; i < kItems; i += 101) {
    const std::string& key = this->items_[i]->key;
    const uint64_t before = Item::looks;
    ASSERT_EQ(this->index_.Find(key, this->index_.Hash(key)), this->items_[i].get());
    longest = std::max(longest, Item::looks - before);
  }
  EXPECT_LE(longest, kLooksAtMost);
}

// A client that watched SCAN can delete all keys of a large table except those with neighbouring hashes.
TEST(HashCollisionTest, ATableOfNeighboursIsStillDrawnFromQuickly) {
  constexpr uint64_t kKeys = 500'000;
  HashIndex<Item*, Good> index{Good{}};
  std::map<uint64_t, std::unique_ptr<Item>> items;
  for (uint64_t i = 0; i < kKeys; ++i) {
    auto item = std::make_unique<Item>(std::to_string(i));
    const uint64_t hash = index.Hash(item->key);
    index.Insert(item.get(), hash);
    items.emplace(hash, std::move(item));
  }
  ASSERT_EQ(items.size(), kKeys);
  uint64_t nth = 0;
  for (const auto& [hash, item] : items)
    if (++nth > 500) index.Remove(item->key, hash);
  ASSERT_TRUE(index.IsConsistent());
  ASSERT_EQ(index.Size(), 500u);
  Random random(1);
  std::set<const Item*> drawn;
  for (int i = 0; i < 20'000; ++i) drawn.insert(index.PickRandom(random));
  EXPECT_EQ(drawn.size(), 500u);
}

}  // namespace
}  // namespace respite
