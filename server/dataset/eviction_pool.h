// EvictionPool: finds the best key to evict, by looking at a few keys at a time.
//
// Each choice draws some keys at random from all databases, and keeps the best of them together with those of earlier
// choices, so the pool improves as long as memory stays short. This differs from Redis in three ways: keys are drawn
// from databases in proportion to their size; a candidate that was used while it waited is judged anew before it is
// evicted; and among keys with the same frequency (LFU) those unused for longest go first. A key past its deadline goes
// before any other.
//
// Keys are drawn in whole buckets of the table: a bucket is one cache line, and its entries are fetched together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "datatypes/keyspace.h"
#include "server/config/settings.h"
#include "server/dataset/key_usage.h"

namespace respite {

class EvictionPool {
 public:
  struct Choice {
    int db;
    Entry* entry;
  };

  // All must outlive the pool.
  EvictionPool(const Keyspace& keyspace, const Settings& settings, const KeyUsage& access, Random& random)
      : keyspace_(keyspace), settings_(settings), access_(access), random_(random) {}

  // The key that maxmemory-policy would evict next; nothing when it has none, or when those that may not go hide it.
  // Requires: the policy evicts. Cost: looks at about maxmemory-samples keys, a cache miss for each (random policies:
  // one key).
  std::optional<Choice> Choose(int64_t now_ms);

 private:
  static constexpr size_t kSize = 16;

  // The entry may be gone when the candidate is judged again: then the table has no such slot under this hash. Another
  // entry at the same address with the same hash is judged as it is.
  struct Candidate {
    uint64_t score;
    uint64_t hash;
    Entry* entry;
    int db;
  };

  bool OnlyTimed() const { return policy_ >= EvictionPolicy::kVolatileLru; }
  const HashIndex<Entry*>& IndexOf(int db) const {
    return OnlyTimed() ? keyspace_[db].Timed() : keyspace_[db].Entries();
  }
  // False: another node decides about it, see HiddenSlots.
  bool MayGo(const Entry& entry) const { return !keyspace_.hidden().HasKey(entry.Key()); }
  // The larger, the better to evict. Keys past their deadline have kDead.
  uint64_t Score(const Entry& entry, int64_t now_ms) const;
  // Draws a database with a probability in proportion to its share of all `keys`.
  int DrawDatabase(size_t keys);
  size_t CountKeys() const;
  std::optional<Choice> ChooseRandom(size_t keys);
  // Draws keys and keeps the best.
  void Refill(size_t keys, int64_t now_ms);
  void Consider(int db, Entry* entry, int64_t now_ms);
  void Keep(const Candidate& candidate);
  bool Has(const Entry* entry) const;
  // The best candidate, judged anew; nothing if all that are left were removed meanwhile.
  std::optional<Choice> TakeBest(int64_t now_ms);

  const Keyspace& keyspace_;
  const Settings& settings_;
  const KeyUsage& access_;
  Random& random_;
  EvictionPolicy policy_ = EvictionPolicy::kNoEviction;  // under which the candidates were judged
  size_t count_ = 0;
  std::array<Candidate, kSize> candidates_;  // the first count_, best last
};

}  // namespace respite
