// The keys that each policy evicts. Choices are random: the test prints the seed, and the bounds have a wide margin.
#include "server/dataset/eviction_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/str_cat.h"

namespace respite {
namespace {

constexpr int64_t kNowMs = 1'700'000'000'000;

class EvictionPoolTest : public testing::Test {
 protected:
  EvictionPoolTest() : seed_(SystemSeed()), random_(seed_), trace_(__FILE__, __LINE__, StrCat("seed ", seed_)) {}

  static std::string Name(size_t i) { return StrCat("key:", i); }
  void Add(int db, size_t i, uint32_t access, int64_t deadline_ms = kNoDeadline) {
    keyspace_[db].Add(Name(i), StringContent::Value("v"), deadline_ms, access);
  }
  // Evicts a key and returns its number.
  size_t Evict(EvictionPool& pool) {
    const auto choice = pool.Choose(kNowMs);
    EXPECT_TRUE(choice.has_value());
    if (!choice) return 0;
    const EntryPtr taken = keyspace_[choice->db].Take(choice->entry);
    return std::stoul(std::string(taken->Key().substr(4)));
  }
  std::vector<size_t> Evict(EvictionPool& pool, size_t count) {
    std::vector<size_t> evicted(count);
    for (size_t& number : evicted) number = Evict(pool);
    return evicted;
  }
  static double Mean(const std::vector<size_t>& numbers) {
    return static_cast<double>(std::accumulate(numbers.begin(), numbers.end(), size_t{0})) /
           static_cast<double>(numbers.size());
  }
  // Creates keys idle for 0, 1, 2 … seconds. Returns the numbers of the first keys evicted.
  std::vector<size_t> EvictByIdleTime(size_t keys, size_t count) {
    for (size_t i = 0; i < keys; ++i) Add(0, i, KeyUsage::BitsForIdleTime(static_cast<int64_t>(i), kNowMs));
    EvictionPool pool(keyspace_, settings_, access_, random_);
    return Evict(pool, count);
  }

  uint64_t seed_;
  Settings settings_;
  Random random_;
  testing::ScopedTrace trace_;
  KeyUsage access_{settings_, random_};
  Keyspace keyspace_{16, {7}};
};

TEST_F(EvictionPoolTest, LruPrefersKeysUnusedForLong) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysLru;
  const auto evicted = EvictByIdleTime(10'000, 1000);
  EXPECT_GT(Mean(evicted), 8500) << "random choice would give 5000, perfect choice 9500";
  const auto recent = std::count_if(evicted.begin(), evicted.end(), [](size_t idle) { return idle < 5000; });
  EXPECT_LT(recent, 10);
}

TEST_F(EvictionPoolTest, LrmPrefersKeysUnmodifiedForLong) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysLrm;
  EXPECT_GT(Mean(EvictByIdleTime(10'000, 1000)), 8500) << "random choice would give 5000, perfect choice 9500";
  const uint32_t bits = KeyUsage::BitsForIdleTime(100, kNowMs);
  EXPECT_EQ(access_.BitsAfterUse(bits, kNowMs), bits);
}

TEST_F(EvictionPoolTest, MoreSamplesChooseBetter) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysLru;
  settings_.maxmemory_samples = 1;
  const double hasty = Mean(EvictByIdleTime(10'000, 1000));
  keyspace_.Detach(0);
  settings_.maxmemory_samples = 50;
  const double careful = Mean(EvictByIdleTime(10'000, 1000));
  EXPECT_GT(careful, hasty);
  EXPECT_GT(careful, 9300);
}

TEST_F(EvictionPoolTest, LfuPrefersKeysThatAreRarelyUsed) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysLfu;
  for (size_t i = 0; i < 10'000; ++i) Add(0, i, KeyUsage::BitsForFrequency(static_cast<uint32_t>(i % 250), kNowMs));
  EvictionPool pool(keyspace_, settings_, access_, random_);
  auto evicted = Evict(pool, 1000);
  for (size_t& number : evicted) number %= 250;
  EXPECT_LT(Mean(evicted), 40) << "random choice would give 125, perfect choice 12";
}

TEST_F(EvictionPoolTest, LfuCountsUseLongAgoForLess) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysLfu;
  settings_.maxmemory_samples = 64;
  // Few keys, so that 64 samples with replacement contain each of them in almost every round.
  for (size_t i = 0; i < 20; ++i) Add(0, i, KeyUsage::BitsForFrequency(50, kNowMs - (i == 12 ? 30 * 60'000 : 0)));
  EvictionPool pool(keyspace_, settings_, access_, random_);
  const auto evicted = Evict(pool, 10);
  EXPECT_TRUE(std::count(evicted.begin(), evicted.end(), 12u)) << "its counter has decayed to 20";
}

TEST_F(EvictionPoolTest, OfKeysUsedAlikeLfuPrefersTheOlder) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysLfu;
  settings_.lfu_decay_time = 0;
  for (size_t i = 0; i < 10'000; ++i) {
    Add(0, i, KeyUsage::BitsForFrequency(5, kNowMs - static_cast<int64_t>(i) * 60'000));
  }
  EvictionPool pool(keyspace_, settings_, access_, random_);
  EXPECT_GT(Mean(Evict(pool, 1000)), 8500);
}

TEST_F(EvictionPoolTest, TtlPrefersKeysThatExpireSoon) {
  settings_.maxmemory_policy = EvictionPolicy::kVolatileTtl;
  for (size_t i = 0; i < 10'000; ++i) Add(0, i, 0, kNowMs + 1000 + static_cast<int64_t>(i));
  EvictionPool pool(keyspace_, settings_, access_, random_);
  EXPECT_LT(Mean(Evict(pool, 1000)), 1500);
}

TEST_F(EvictionPoolTest, VolatilePoliciesLeaveKeysWithoutDeadlineAlone) {
  for (EvictionPolicy policy : {EvictionPolicy::kVolatileLru, EvictionPolicy::kVolatileLfu,
                                EvictionPolicy::kVolatileRandom, EvictionPolicy::kVolatileTtl}) {
    settings_.maxmemory_policy = policy;
    for (size_t i = 0; i < 1000; ++i) Add(0, i, 0, i % 10 == 0 ? kNowMs + 5000 : kNoDeadline);
    EvictionPool pool(keyspace_, settings_, access_, random_);
    for (size_t number : Evict(pool, 100)) ASSERT_EQ(number % 10, 0u);
    EXPECT_FALSE(pool.Choose(kNowMs));
    EXPECT_EQ(keyspace_[0].Size(), 900u);
    keyspace_.Detach(0);
  }
}

TEST_F(EvictionPoolTest, RandomGivesEveryKeyOfEveryDatabaseTheSameChance) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysRandom;
  constexpr size_t kKeys = 600;
  constexpr size_t kDraws = 60'000;
  for (size_t i = 0; i < kKeys; ++i) Add(i < 100 ? 0 : i < 200 ? 3 : 9, i, 0);
  EvictionPool pool(keyspace_, settings_, access_, random_);
  std::map<std::string, double> counts;
  for (size_t i = 0; i < kDraws; ++i) ++counts[std::string(pool.Choose(kNowMs)->entry->Key())];
  ASSERT_EQ(counts.size(), kKeys);
  const double expected = static_cast<double>(kDraws) / static_cast<double>(kKeys);
  double chi_square = 0;
  for (const auto& [key, count] : counts) chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 800) << "599 degrees of freedom: 2 σ is 670, 5 σ is 775";
}

TEST_F(EvictionPoolTest, TheBestKeyIsFoundInWhateverDatabaseItIs) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysLru;
  settings_.maxmemory_samples = 64;
  for (size_t i = 0; i < 100; ++i)
    Add(static_cast<int>(i % 16), i, KeyUsage::BitsForIdleTime(i == 77 ? 5000 : 10, kNowMs));
  EvictionPool pool(keyspace_, settings_, access_, random_);
  const auto evicted = Evict(pool, 20);
  EXPECT_TRUE(std::count(evicted.begin(), evicted.end(), 77u));
}

TEST_F(EvictionPoolTest, ACandidateThatWasUsedMeanwhileIsSpared) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysLru;
  settings_.maxmemory_samples = 1000;  // samples all keys, so the pool has the 16 best
  for (size_t i = 0; i < 100; ++i) Add(0, i, KeyUsage::BitsForIdleTime(static_cast<int64_t>(i), kNowMs));
  EvictionPool pool(keyspace_, settings_, access_, random_);
  EXPECT_EQ(Evict(pool), 99u);
  keyspace_[0].Find(Name(98))->SetAccess(KeyUsage::BitsForIdleTime(0, kNowMs));
  EXPECT_EQ(Evict(pool), 97u);
}

TEST_F(EvictionPoolTest, ACandidateThatIsGoneIsPassedOver) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysLru;
  settings_.maxmemory_samples = 1000;
  for (size_t i = 0; i < 30; ++i) Add(0, i, KeyUsage::BitsForIdleTime(static_cast<int64_t>(i), kNowMs));
  EvictionPool pool(keyspace_, settings_, access_, random_);
  EXPECT_EQ(Evict(pool), 29u);
  const EntryPtr deleted = keyspace_[0].Take(keyspace_[0].Find(Name(28)));
  EXPECT_EQ(Evict(pool), 27u);
  keyspace_.Detach(0);
  EXPECT_FALSE(pool.Choose(kNowMs));
}

TEST_F(EvictionPoolTest, AnotherPolicyJudgesAnew) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysLru;
  settings_.maxmemory_samples = 1000;
  for (size_t i = 0; i < 50; ++i) {
    Add(0, i, KeyUsage::BitsForIdleTime(static_cast<int64_t>(i), kNowMs), kNowMs + 1000 + static_cast<int64_t>(i));
  }
  EvictionPool pool(keyspace_, settings_, access_, random_);
  EXPECT_EQ(Evict(pool), 49u);
  settings_.maxmemory_policy = EvictionPolicy::kVolatileTtl;
  EXPECT_EQ(Evict(pool), 0u);
}

TEST_F(EvictionPoolTest, DeadKeysGoFirst) {
  settings_.maxmemory_policy = EvictionPolicy::kAllKeysLru;
  settings_.maxmemory_samples = 1000;
  for (size_t i = 0; i < 50; ++i) {
    Add(0, i, KeyUsage::BitsForIdleTime(static_cast<int64_t>(i), kNowMs), i == 3 ? kNowMs - 1 : kNoDeadline);
  }
  EvictionPool pool(keyspace_, settings_, access_, random_);
  EXPECT_EQ(Evict(pool), 3u);
  EXPECT_EQ(Evict(pool), 49u);
}

TEST_F(EvictionPoolTest, EvictsAllThereIs) {
  for (EvictionPolicy policy :
       {EvictionPolicy::kAllKeysLru, EvictionPolicy::kAllKeysLfu, EvictionPolicy::kAllKeysRandom}) {
    settings_.maxmemory_policy = policy;
    for (size_t i = 0; i < 3000; ++i) Add(static_cast<int>(i % 2), i, 0);
    EvictionPool pool(keyspace_, settings_, access_, random_);
    const auto evicted = Evict(pool, 3000);
    EXPECT_EQ(std::set<size_t>(evicted.begin(), evicted.end()).size(), 3000u);
    EXPECT_FALSE(pool.Choose(kNowMs));
  }
}

}  // namespace
}  // namespace respite
