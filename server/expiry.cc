#include "server/expiry.h"

#include <string>

namespace respite {

namespace {

constexpr uint64_t kKeysPerSample = 20;
constexpr int kSharePercent = 25;          // of the timer's period, at effort 1
constexpr int kSharePercentPerEffort = 2;  // more for each step of effort
constexpr uint64_t kDeadPercentAccepted = 10;

}  // namespace

int64_t Expiry::AverageTtlMs(int db) const {
  return static_cast<size_t>(db) < progress_.size() ? progress_[static_cast<size_t>(db)].average_ttl_ms : 0;
}

void Expiry::Cycle(const Settings& settings, int hz) {
  if (!active_) return;
  progress_.resize(static_cast<size_t>(data_.keyspace.Count()));
  int64_t share = kSharePercent + kSharePercentPerEffort * (settings.active_expire_effort - 1);
  int64_t start_us = clock_.MonotonicUs();
  int64_t deadline_us = start_us + 1'000'000 / hz * share / 100;
  int64_t now_ms = clock_.WallMs();
  for (int i = 0; i < data_.keyspace.Count(); ++i) {
    int db = next_db_;
    next_db_ = (next_db_ + 1) % data_.keyspace.Count();
    if (!CleanDatabase(db, settings, now_ms, deadline_us)) {
      ++data_.stats.expire_cycles_cut;
      break;
    }
  }
  data_.stats.expire_cycle_us += static_cast<uint64_t>(clock_.MonotonicUs() - start_us);
}

bool Expiry::CleanDatabase(int db, const Settings& settings, int64_t now_ms, int64_t deadline_us) {
  if (data_.keyspace[db].TimedSize() == 0) {
    progress_[static_cast<size_t>(db)].average_ttl_ms = 0;
    return true;
  }
  uint64_t effort = static_cast<uint64_t>(settings.active_expire_effort - 1);
  uint64_t wanted = kKeysPerSample + kKeysPerSample / 4 * effort;
  uint64_t accepted_percent = kDeadPercentAccepted - effort;
  for (;;) {
    Sampled sampled = SampleDatabase(db, now_ms, wanted);
    if (sampled.seen == 0) return true;
    uint64_t alive = sampled.seen - sampled.expired;
    int64_t& average = progress_[static_cast<size_t>(db)].average_ttl_ms;
    if (alive > 0) {
      int64_t mean = sampled.ttl_sum_ms / static_cast<int64_t>(alive);
      average = average == 0 ? mean : average / 50 * 49 + mean / 50;  // a slow mean: the latest sample counts 2 %
    }
    double share = static_cast<double>(sampled.expired) / static_cast<double>(sampled.seen);
    data_.stats.expired_stale_share = data_.stats.expired_stale_share * 0.95 + share * 0.05;
    if (sampled.expired * 100 <= sampled.seen * accepted_percent) return true;
    if (clock_.MonotonicUs() >= deadline_us) return false;
  }
}

Expiry::Sampled Expiry::SampleDatabase(int db, int64_t now_ms, uint64_t wanted) {
  Database& data = data_.keyspace[db];
  Progress& progress = progress_[static_cast<size_t>(db)];
  Sampled sampled;
  std::vector<Entry*> dead;
  // A table with few of many places taken has long empty stretches: they are walked, but not for ever.
  for (uint64_t places = wanted * 20; places > 0 && sampled.seen < wanted; --places) {
    progress.cursor = data.ScanTimed(progress.cursor, [&](Entry* entry) {
      ++sampled.seen;
      if (entry->IsExpired(now_ms)) {
        ++sampled.expired;
        dead.push_back(entry);
      } else {
        sampled.ttl_sum_ms += entry->Deadline() - now_ms;
      }
    });
    if (progress.cursor == 0) break;
  }
  Unit unit(data_, now_ms);
  for (Entry* entry : dead) unit.Purge(db, entry);
  return sampled;
}

}  // namespace respite
