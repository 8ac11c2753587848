// Expiry: removes keys whose time has come, a little at a time.
//
// Reads and writes purge the expired keys they meet; this cycle finds the others. It walks the index of keys with a
// deadline, database after database, from where it stopped. A round is cut after a share of the timer's period that
// grows with active-expire-effort, and goes on in the same round only while many of the keys it sees are dead, so a
// server without dead keys spends almost nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "server/config/settings.h"
#include "server/unit.h"

namespace respite {

class Expiry {
 public:
  Expiry(DataFloor& data, const Clock& clock) : data_(data), clock_(clock) {}

  // One round of the timer. Cost: bounded by time, see above.
  void Cycle(const Settings& settings, int hz);
  // DEBUG SET-ACTIVE-EXPIRE.
  void SetActive(bool active) { active_ = active; }
  // Mean remaining time of the keys with a deadline in `db`, in ms, from what the cycle saw; 0: unknown.
  int64_t AverageTtlMs(int db) const;

 private:
  struct Progress {
    uint64_t cursor = 0;
    int64_t average_ttl_ms = 0;
  };
  struct Sampled {
    uint64_t seen = 0;
    uint64_t expired = 0;
    int64_t ttl_sum_ms = 0;
  };

  Sampled SampleDatabase(int db, int64_t now_ms, uint64_t wanted);
  // Works on one database until few of its keys are dead; false when the time is up.
  bool CleanDatabase(int db, const Settings& settings, int64_t now_ms, int64_t deadline_us);

  DataFloor& data_;
  const Clock& clock_;
  bool active_ = true;
  int next_db_ = 0;
  std::vector<Progress> progress_;
};

}  // namespace respite
