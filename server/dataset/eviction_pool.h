// EvictionPool: finds a good key to evict by sampling a few keys at a time.
//
// Each choice samples keys of all databases. The pool keeps the best of these keys and of the keys that earlier choices
// have kept, so the choices become better while memory is short. Sampled keys that have expired are evicted before all
// others. Under the random policies, the pool picks one random key instead.
//
// Three things differ from Redis. Databases are sampled in proportion to their size. A candidate is scored again before
// it is evicted, because it may have been used since it was sampled. Among keys with equal frequency (LFU) the key that
// was not used for the longest time is evicted first.
//
// Keys are sampled in whole buckets of the table. A bucket is one cache line, and its entries are fetched together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "datatypes/keyspace.h"
#include "server/config/settings.h"
#include "server/dataset/key_usage.h"

namespace respite {

class EvictionPool {  // finds a good key to evict by sampling a few keys at a time
 public:
  struct Choice {  // the key to evict
    int db;
    Entry* entry;  // the key to evict, with its value
  };

  // All arguments must outlive the pool.
  EvictionPool(const Keyspace& keyspace, const Settings& settings, const KeyUsage& access, Random& random)
      : keyspace_(keyspace), settings_(settings), key_usage_(access), random_(random) {}

  // Returns the key to evict next under maxmemory-policy. Returns nullopt if there is none, or if the samples contained
  // only keys that may not be evicted, because their slots are still being imported (HiddenSlots). Requires:
  // maxmemory-policy is not noeviction. Cost: samples about maxmemory-samples keys, with one cache miss each (random
  // policies: one key).
  std::optional<Choice> Choose(int64_t now_ms);  // the key to evict next; nullopt: none

 private:
  static constexpr size_t kSize = 16;  // maximum number of candidates that are remembered

  // A sampled key that may be evicted. The entry may be freed before the candidate is scored again. The hash table then
  // contains no entry with this hash and address, or a new entry that happens to have both, which is then scored
  // instead.
  struct Candidate {  // a sampled key with its score
    uint64_t score;   // the key with the greatest score is evicted first
    uint64_t hash;
    Entry* entry;  // may have been freed since it was sampled
    int db;
  };

  bool IsVolatilePolicy() const {  // volatile-*: evicts only keys with a deadline
    return policy_ >= EvictionPolicy::kVolatileLru;
  }
  const HashIndex<Entry*>& IndexOf(int db) const {  // the keys of the database that the policy may evict
    return IsVolatilePolicy() ? keyspace_[db].EntriesWithDeadline() : keyspace_[db].Entries();
  }
  bool MayEvict(const Entry& entry) const {  // false: the key's slot is being imported
    return !keyspace_.hidden().HasKey(entry.Key());
  }
  // Returns a score: the greater the score, the earlier the key is evicted. Expired keys have the greatest score.
  uint64_t Score(const Entry& entry, int64_t now_ms) const;  // the key with the greatest score is evicted first
  int PickRandomDatabase(size_t keys);              // a random database, weighted by evictable keys; `keys`: their sum
  size_t EvictableKeyCount() const;                 // number of keys that the policy applies to, in all databases
  std::optional<Choice> ChooseRandom(size_t keys);  // picks any evictable key; nullopt: found none
  void Refill(size_t keys, int64_t now_ms);         // samples keys, keeps the best; `keys`: EvictableKeyCount()
  void Consider(int db, Entry* entry, int64_t now_ms);  // scores a sampled key and keeps it if it is good
  void Keep(const Candidate& candidate);  // adds a candidate; if all places are taken, drops the worst one
  bool Has(const Entry* entry) const;     // true: the entry is a candidate
  // Removes and returns the best candidate after scoring it again. Returns nullopt if no candidate is left that may be
  // evicted.
  std::optional<Choice> TakeBest(int64_t now_ms);  // takes the best candidate out; nullopt: none is left

  const Keyspace& keyspace_;                             // all databases
  const Settings& settings_;                             // values of the directives
  const KeyUsage& key_usage_;                            // computes how recently or how often a key was used
  Random& random_;                                       // random numbers for the samples
  EvictionPolicy policy_ = EvictionPolicy::kNoEviction;  // policy under which the candidates were scored
  size_t count_ = 0;                                     // number of valid candidates
  std::array<Candidate, kSize> candidates_;              // only the first count_ are valid, the best of them last
};

}  // namespace respite
