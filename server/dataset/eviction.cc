#include "server/dataset/eviction.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/real_clock.h"
#include "datatypes/keyspace.h"
#include "protocol/reply_buffer.h"
#include "server/config/settings.h"
#include "server/dataset/expiry.h"
#include "server/dataset/lazy_free.h"
#include "server/dataset/lazy_free_thread.h"
#include "server/dataset/memory_gauge.h"
#include "server/dataset/unit.h"
#include "server/runtime/host.h"
#include "server/runtime/latency.h"
#include "server/runtime/stats.h"

namespace respite {

namespace {

constexpr int kKeysPerLook = 16;  // keys between two readings of the clock

// Returns the time limit of one round of eviction in µs, from maxmemory-eviction-tenacity (0 to 100). As in Redis, the
// limit is 50 µs per unit of tenacity up to 10, and grows by 15 % with each further unit. At 100 there is no limit.
int64_t RoundUs(int tenacity) {
  constexpr int kGentle = 10;
  constexpr int kMerciless = 100;
  constexpr int64_t kUsPerStep = 50;
  if (tenacity <= kGentle) return kUsPerStep * tenacity;
  if (tenacity >= kMerciless) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(kUsPerStep * kGentle * std::pow(1.15, tenacity - kGentle));
}

}  // namespace

Eviction::Eviction(const Parts& parts)
    : parts_(parts), pool_(parts.data.keyspace, parts.env.settings, parts.data.usage, parts.data.random) {}

size_t Eviction::UncountedBytes() const {
  return parts_.data.journals.BufferedBytes() + LazyFreeThread::PendingBytesOfAll() + uncounted_script_bytes_();
}

size_t Eviction::ExcessBytes() const {
  const size_t limit = parts_.env.settings.maxmemory;
  const size_t used = parts_.memory.UsedBytes();
  if (limit == 0 || used <= limit) return 0;
  const size_t excess = used - limit;
  const size_t uncounted = UncountedBytes();
  return excess > uncounted ? excess - uncounted : 0;
}

bool Eviction::LacksMemory() const { return parts_.env.settings.maxmemory != 0 && lacks_memory_; }

void Eviction::FreeMemoryBeforeCommand() {
  // Does nothing during a slow script or loading (kLater), while other clients are served. lacks_memory_ still applies
  // to the slow script or loading, so the commands of other clients must not change it.
  if (parts_.eviction_rule->Now() == KeyRemovalPermission::Answer::kLater) return;
  lacks_memory_ = FreeMemory() == Outcome::kFailed;
}

Eviction::Outcome Eviction::FreeMemory() {
  using Answer = KeyRemovalPermission::Answer;
  const Answer may_evict = parts_.eviction_rule->Now();
  if (may_evict != Answer::kYes && may_evict != Answer::kYesHere) return Outcome::kWithin;
  const uint64_t evicted_before = parts_.data.stats.evicted_keys;
  Outcome outcome = Outcome::kWithin;
  if (ExcessBytes() != 0) {
    parts_.blocks.Clear();
    const size_t excess = ExcessBytes();
    if (excess != 0) outcome = EvictKeys(excess);
  }
  NoteOutcome(outcome);
  const bool has_evicted = parts_.data.stats.evicted_keys != evicted_before;
  if (has_evicted && may_evict == Answer::kYesHere) parts_.data.history.has_local_writes = true;
  return outcome;
}

Eviction::Outcome Eviction::EvictKeys(size_t excess_bytes) {
  const Settings& settings = parts_.env.settings;
  if (settings.maxmemory_policy == EvictionPolicy::kNoEviction) return Outcome::kFailed;
  LatencyWatch watch(parts_.env.latency, "eviction-cycle");
  const int64_t started_us = parts_.env.real_clock.NowUs();
  const int64_t allowed_us = RoundUs(settings.maxmemory_eviction_tenacity);
  Unit unit(parts_.data, parts_.env.clock.WallMs(), ExpiryRule::kPurge);
  Outcome outcome = Outcome::kWithin;
  // freed_bytes_ counts only the memory of removed values. Messages about evicted keys use new memory; if it were
  // subtracted, more keys would be evicted.
  freed_bytes_ = 0;
  for (int keys = 1; freed_bytes_ < excess_bytes; ++keys) {
    const auto choice = pool_.Choose(unit.now_ms());
    if (!choice) {
      outcome = Outcome::kFailed;
      break;
    }
    EvictOne(unit, *choice);
    if (keys % kKeysPerLook != 0 || parts_.env.real_clock.NowUs() - started_us <= allowed_us) continue;
    outcome = Outcome::kRunning;
    StartInNextTurn();
    break;
  }
  return outcome;
}

void Eviction::EvictOne(Unit& unit, const EvictionPool::Choice& choice) {
  LatencyWatch watch(parts_.env.latency, "eviction-del");
  if (choice.entry->IsExpired(unit.now_ms())) {
    const int64_t before = parts_.memory.UsedBytesAfterLazyFree();
    unit.Purge(choice.db, choice.entry);
    // The difference can be negative, because the lazyfree thread frees memory at the same time and updates its
    // counters late.
    const int64_t freed_bytes = before - parts_.memory.UsedBytesAfterLazyFree();
    if (freed_bytes > 0) freed_bytes_ += static_cast<size_t>(freed_bytes);
  } else {
    const uint64_t before = parts_.lazy_free.EvictedBytes();
    unit.Evict(choice.db, choice.entry, parts_.env.settings.lazyfree_lazy_eviction ? Bytes("UNLINK") : Bytes("DEL"));
    freed_bytes_ += parts_.lazy_free.EvictedBytes() - before;
  }
  unit.Close();  // each key is propagated separately
}

void Eviction::StartInNextTurn() {
  if (!parts_.env.host || std::exchange(is_round_posted_, true)) return;
  parts_.env.host->Post([this] {
    is_round_posted_ = false;
    FreeMemory();
  });
}

void Eviction::NoteOutcome(Outcome outcome) {
  ServerStats& stats = parts_.env.stats;
  int64_t& since_us = stats.eviction_exceeded_since_us;
  if (outcome != Outcome::kWithin) {
    if (since_us == 0) since_us = parts_.env.real_clock.NowUs();
  } else if (since_us != 0) {
    stats.eviction_exceeded_us += static_cast<uint64_t>(parts_.env.real_clock.NowUs() - since_us);
    since_us = 0;
  }
}

}  // namespace respite
