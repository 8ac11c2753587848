#include "server/dataset/expiry.h"

#include <algorithm>

#include "datatypes/hash.h"

namespace respite {

namespace {

// These constants apply at active-expire-effort 1. Each further unit of effort adds the constant of the same name with
// …PerEffort (kAcceptedPermille: subtracts it). A sample is so large that a round rarely ends too early by chance. With
// samples of 20 keys, as in Redis, a round would often do nothing until the share of expired keys is far above the
// accepted share.
constexpr uint64_t kSampleSize = 400;
constexpr uint64_t kSampleSizePerEffort = 100;
constexpr int64_t kSharePercent = 25;  // a round's share of the timer's period
constexpr int64_t kSharePercentPerEffort = 2;
constexpr uint64_t kAcceptedPermille = 50;  // half of the promised share, because more keys expire until the next round
constexpr uint64_t kAcceptedPermillePerEffort = 5;

// The maximum remaining time of a key that counts for the mean (71 000 years). Longer times count as this time, so that
// the sum of a sample cannot overflow.
constexpr int64_t kLongestTtlMs = INT64_MAX / 4096;
constexpr size_t kMaxExpiredPerSample = 100;  // a sample of keys ends at this number of expired ones
constexpr size_t kFieldsPerPurge = 256;       // most expired fields of one hash that one sample removes
constexpr size_t kHashesPerSample = 16;       // hashes with expired fields between two readings of the clock
constexpr uint64_t kPlacesPerKey = 20;        // empty table slots that a sample may skip for each wanted key

}  // namespace

int64_t Expiry::AverageTtlMs(int db) const {
  return static_cast<size_t>(db) < progress_.size() ? progress_[static_cast<size_t>(db)].average_ttl_ms : 0;
}

void Expiry::StartRound(const Settings& settings, int hz) {
  if (round_.databases_left > 0) FinishRound();
  if (!is_active_) return;
  progress_.resize(static_cast<size_t>(data_.keyspace.Count()));
  int64_t effort = settings.active_expire_effort - 1;
  int64_t share = kSharePercent + kSharePercentPerEffort * effort;
  round_ = {.databases_left = data_.keyspace.Count(),
            .sample_size = kSampleSize + kSampleSizePerEffort * static_cast<uint64_t>(effort),
            .accepted_expired_permille = kAcceptedPermille - kAcceptedPermillePerEffort * static_cast<uint64_t>(effort),
            .budget_us = 1'000'000 / hz * share / 100};
}

void Expiry::SetActive(bool active) {
  is_active_ = active;
  if (!active) round_ = {};
}

Expiry::Slice Expiry::RunSlice() {
  if (round_.databases_left == 0) return {Outcome::kFinished, 0};
  int64_t start_us = real_clock_.NowUs();
  int64_t deadline_us = start_us + std::min(kSliceUs, round_.budget_us);
  while (round_.databases_left > 0 && PurgeExpiredInDatabase(next_db_, deadline_us) == Cleaning::kClean)
    AdvanceToNextDatabase();
  int64_t elapsed_us = real_clock_.NowUs() - start_us;
  round_.budget_us -= elapsed_us;
  data_.stats.expire_cycle_us += static_cast<uint64_t>(elapsed_us);
  if (round_.databases_left > 0 && round_.budget_us > 0) return {Outcome::kMore, elapsed_us};
  FinishRound();
  return {Outcome::kFinished, elapsed_us};
}

void Expiry::AdvanceToNextDatabase() {
  next_db_ = (next_db_ + 1) % data_.keyspace.Count();
  --round_.databases_left;
}

void Expiry::FinishRound() {
  if (round_.databases_left > 0) {
    ++data_.stats.expire_cycles_out_of_time;
    AdvanceToNextDatabase();  // the next round begins with the other databases
  }
  double share = round_.seen == 0 ? 0 : static_cast<double>(round_.expired) / static_cast<double>(round_.seen);
  data_.stats.expired_stale_share = data_.stats.expired_stale_share * 0.95 + share * 0.05;
  round_ = {};
}

Expiry::Cleaning Expiry::PurgeExpiredInDatabase(int db, int64_t deadline_us) {
  const Cleaning keys = PurgeExpiredKeys(db, deadline_us);
  return keys == Cleaning::kClean ? PurgeExpiredFields(db, deadline_us) : keys;
}

// Returns whether the database counts as clean. Returns true if few of the sampled keys had expired (or few of the
// sampled hashes had expired fields), and no sampled hash still has expired fields. Returns false for an empty sample,
// because the scan may have met only empty places of the table.
bool Expiry::IsClean(const SampleResult& sampled) const {
  return sampled.seen > 0 && !sampled.is_unfinished &&
         sampled.expired * 1000 <= sampled.seen * round_.accepted_expired_permille;
}

Expiry::Cleaning Expiry::PurgeExpiredKeys(int db, int64_t deadline_us) {
  Progress& progress = progress_[static_cast<size_t>(db)];
  for (;;) {
    if (data_.keyspace[db].CountKeysWithDeadline() == 0) {
      progress.average_ttl_ms = 0;
      return Cleaning::kClean;
    }
    SampleResult sampled = SampleAndPurgeKeys(db, clock_.WallMs());
    round_.seen += sampled.seen;
    round_.expired += sampled.expired;
    NoteTtl(progress, sampled);
    if (IsClean(sampled)) return Cleaning::kClean;
    if (real_clock_.NowUs() >= deadline_us) return Cleaning::kOutOfTime;
  }
}

Expiry::Cleaning Expiry::PurgeExpiredFields(int db, int64_t deadline_us) {
  while (data_.keyspace[db].HashesWithFieldDeadlines().Size() != 0) {
    if (IsClean(SampleAndPurgeFields(db, clock_.WallMs()))) return Cleaning::kClean;
    if (real_clock_.NowUs() >= deadline_us) return Cleaning::kOutOfTime;
  }
  return Cleaning::kClean;
}

Expiry::SampleResult Expiry::SampleAndPurgeFields(int db, int64_t now_ms) {
  Database& data = data_.keyspace[db];
  Progress& progress = progress_[static_cast<size_t>(db)];
  const uint64_t begin = progress.field_cursor;
  SampleResult sampled;
  expired_entries_.clear();
  for (uint64_t places = round_.sample_size * kPlacesPerKey;
       places > 0 && sampled.seen < round_.sample_size && expired_entries_.size() < kHashesPerSample; --places) {
    progress.field_cursor = data.ScanHashesWithFieldDeadlines(progress.field_cursor, [&](Entry* entry) {
      ++sampled.seen;
      if (IsRemovable(*entry) && Hash({ValueSlot(entry), data_.limits, now_ms}).HasExpiredFields())
        expired_entries_.push_back(entry);
    });
    if (progress.field_cursor == 0) break;
  }
  sampled.expired = expired_entries_.size();
  const KeyspaceStats before = data_.stats;
  Unit unit(data_, now_ms, ExpiryRule::kPurge);
  for (Entry* entry : expired_entries_) {
    entry = unit.PurgeFields(db, entry, kFieldsPerPurge);
    if (entry == nullptr || !Hash({ValueSlot(entry), data_.limits, now_ms}).HasExpiredFields()) continue;
    sampled.is_unfinished = true;
    progress.field_cursor = begin;
  }
  data_.stats.expired_keys_active += data_.stats.expired_keys - before.expired_keys;
  data_.stats.expired_fields_active += data_.stats.expired_fields - before.expired_fields;
  unit.Close(Unit::Grouping::kApart);
  return sampled;
}

void Expiry::NoteTtl(Progress& progress, const SampleResult& sampled) {
  uint64_t alive = sampled.seen - sampled.expired;
  if (alive == 0) return;
  int64_t mean_ms = sampled.ttl_sum_ms / static_cast<int64_t>(alive);
  int64_t& average_ms = progress.average_ttl_ms;
  average_ms = average_ms == 0 ? mean_ms : average_ms / 50 * 49 + mean_ms / 50;  // the latest sample counts 2 %
}

Expiry::SampleResult Expiry::SampleAndPurgeKeys(int db, int64_t now_ms) {
  Database& data = data_.keyspace[db];
  Progress& progress = progress_[static_cast<size_t>(db)];
  SampleResult sampled;
  expired_entries_.clear();
  // A sample that ends at kMaxExpiredPerSample contains a much larger share of expired keys than IsClean accepts.
  for (uint64_t places = round_.sample_size * kPlacesPerKey;
       places > 0 && sampled.seen < round_.sample_size && expired_entries_.size() < kMaxExpiredPerSample; --places) {
    progress.cursor = data.ScanEntriesWithDeadline(progress.cursor, [&](Entry* entry) {
      ++sampled.seen;
      if (!IsRemovable(*entry)) return;
      if (entry->IsExpired(now_ms)) {
        ++sampled.expired;
        expired_entries_.push_back(entry);
      } else {
        sampled.ttl_sum_ms += std::min(entry->Deadline() - now_ms, kLongestTtlMs);
      }
    });
    if (progress.cursor == 0) break;  // a sample must not contain a key twice
  }
  Unit unit(data_, now_ms, ExpiryRule::kPurge);
  for (Entry* entry : expired_entries_) unit.Purge(db, entry);
  data_.stats.expired_keys_active += expired_entries_.size();
  unit.Close(Unit::Grouping::kApart);
  return sampled;
}

}  // namespace respite
