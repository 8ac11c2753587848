#include "server/dataset/eviction_pool.h"

#include <algorithm>

namespace respite {

namespace {

constexpr uint64_t kDead = UINT64_MAX;
// The maximum number of hash table buckets that a sample visits, as a multiple of the number of wanted keys. The sample
// may then have fewer keys than wanted, because many buckets are empty if most keys of a table were deleted.
constexpr size_t kBucketsPerSample = 4;
// The maximum number of keys in one sample, as a multiple of the number of evictable keys. If maxmemory-samples is
// greater, more samples would most likely only find the same keys again.
constexpr size_t kRoundsAtMost = 16;
// Maximum number of samples (or random keys) that are taken to choose one key for eviction. The limit matters only
// while some keys must not be evicted, because their slots are being imported (hidden slots).
constexpr int kDrawsAtMost = 64;

}  // namespace

uint64_t EvictionPool::Score(const Entry& entry, int64_t now_ms) const {
  if (entry.IsExpired(now_ms)) return kDead;
  switch (policy_) {
    case EvictionPolicy::kVolatileTtl:
      return kDead - 1 - static_cast<uint64_t>(std::max<int64_t>(entry.Deadline(), 0));
    case EvictionPolicy::kAllKeysLfu:
    case EvictionPolicy::kVolatileLfu:
      return (uint64_t{255 - key_usage_.Frequency(entry.Access(), now_ms)} << 16) |
             KeyUsage::IdleMinutes(entry.Access(), now_ms);
    default:
      return static_cast<uint64_t>(KeyUsage::IdleSeconds(entry.Access(), now_ms));
  }
}

size_t EvictionPool::EvictableKeyCount() const {
  size_t keys = 0;
  for (int db = 0; db < keyspace_.Count(); ++db) keys += IndexOf(db).Size();
  return keys;
}

int EvictionPool::PickRandomDatabase(size_t keys) {
  if (IndexOf(0).Size() == keys) return 0;
  uint64_t at = random_.Below(keys);
  int db = 0;
  while (at >= IndexOf(db).Size()) at -= IndexOf(db++).Size();
  return db;
}

std::optional<EvictionPool::Choice> EvictionPool::Choose(int64_t now_ms) {
  if (policy_ != settings_.maxmemory_policy) {
    policy_ = settings_.maxmemory_policy;
    count_ = 0;
  }
  const bool may_all_go = keyspace_.hidden().IsEmpty();
  const size_t keys = EvictableKeyCount();
  for (int draws = 0; keys != 0 && (may_all_go || draws < kDrawsAtMost); ++draws) {
    if (policy_ == EvictionPolicy::kAllKeysRandom || policy_ == EvictionPolicy::kVolatileRandom) {
      return ChooseRandom(keys);
    }
    Refill(keys, now_ms);
    if (auto best = TakeBest(now_ms)) return best;
  }
  return std::nullopt;
}

std::optional<EvictionPool::Choice> EvictionPool::ChooseRandom(size_t keys) {
  for (int draws = 0; draws < kDrawsAtMost; ++draws) {
    const int db = PickRandomDatabase(keys);
    Entry* const entry = IndexOf(db).PickRandom(random_);
    if (MayEvict(*entry)) return Choice{db, entry};
  }
  return std::nullopt;
}

void EvictionPool::Refill(size_t keys, int64_t now_ms) {
  const size_t wanted = std::min(static_cast<size_t>(settings_.maxmemory_samples), keys * kRoundsAtMost);
  size_t seen = 0;
  for (size_t tries = wanted * kBucketsPerSample; seen < wanted && tries > 0; --tries) {
    const int db = PickRandomDatabase(keys);
    IndexOf(db).VisitRandomBucket(random_, [&](Entry* entry) {
      ++seen;
      Consider(db, entry, now_ms);
    });
  }
  if (count_ != 0) return;
  const int db = PickRandomDatabase(keys);
  Consider(db, IndexOf(db).PickRandom(random_), now_ms);
}

void EvictionPool::Consider(int db, Entry* entry, int64_t now_ms) {
  if (!MayEvict(*entry)) return;
  const uint64_t score = Score(*entry, now_ms);
  if (count_ == kSize && score <= candidates_[0].score) return;
  if (!Has(entry)) Keep({score, keyspace_[db].Hash(entry->Key()), entry, db});
}

bool EvictionPool::Has(const Entry* entry) const {
  return std::any_of(candidates_.begin(), candidates_.begin() + count_,
                     [&](const Candidate& candidate) { return candidate.entry == entry; });
}

void EvictionPool::Keep(const Candidate& candidate) {
  if (count_ == kSize) {  // drops the worst
    std::copy(candidates_.begin() + 1, candidates_.begin() + count_, candidates_.begin());
    --count_;
  }
  const auto end = candidates_.begin() + count_;
  const auto place = std::upper_bound(candidates_.begin(), end, candidate.score,
                                      [](uint64_t score, const Candidate& other) { return score < other.score; });
  std::copy_backward(place, end, end + 1);
  *place = candidate;
  ++count_;
}

std::optional<EvictionPool::Choice> EvictionPool::TakeBest(int64_t now_ms) {
  while (count_ != 0) {
    Candidate best = candidates_[--count_];
    if (!IndexOf(best.db).Has(best.entry, best.hash) || !MayEvict(*best.entry)) continue;
    const uint64_t score = Score(*best.entry, now_ms);
    if (score >= best.score) return Choice{best.db, best.entry};
    best.score = score;  // used in the meantime, but may still be the best
    Keep(best);
  }
  return std::nullopt;
}

}  // namespace respite
