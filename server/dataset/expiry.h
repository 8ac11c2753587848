// Expiry: removes keys whose time has come, a little at a time.
//
// Reads and writes purge the expired keys they meet; this finds the others. Each tick of the timer begins a round,
// which walks the indexes of keys with a deadline, database after database, from where the last one stopped. In each
// database it looks at a sample of neighbours and goes on as long as more than the accepted share of them (5 % at
// effort 1) was dead; since a walk meets first what it has not seen for longest, the share in the whole database is
// then lower still. A server without dead keys spends almost nothing.
//
// Then it does the same with the index of hashes that have deadlines on fields. A hash knows its next deadline, so
// fields that have not expired cost nothing; a hash with very many expired ones is cleaned over several samples.
//
// Two bounds on time: a round may use a share of the timer's period (25 % at effort 1), and it works in slices of
// kSliceUs, between which clients are served.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "server/config/settings.h"
#include "server/dataset/unit.h"

namespace respite {

class Expiry {
 public:
  static constexpr int64_t kSliceUs = 1000;

  enum class Outcome : uint8_t { kFinished, kMore };  // kMore: the round wants another slice
  struct Slice {
    Outcome outcome;
    int64_t elapsed_us;
  };

  Expiry(Dataset& data, const Clock& clock, const Pace& pace) : data_(data), clock_(clock), pace_(pace) {}

  // Called at each tick of the timer, `hz` times a second. A round that is still under way ends.
  void StartRound(const Settings& settings, int hz);
  // Cost: kSliceUs, and what the removal of the last few values takes.
  Slice RunSlice();

  // DEBUG SET-ACTIVE-EXPIRE. Switching it off also ends the round that is under way.
  void SetActive(bool active);
  // Mean remaining time of the keys with a deadline in `db`, in ms, from what the rounds saw; 0: unknown.
  int64_t AverageTtlMs(int db) const;

 private:
  struct Progress {
    uint64_t cursor = 0;
    uint64_t field_cursor = 0;
    int64_t average_ttl_ms = 0;
  };
  struct Sampled {
    uint64_t seen = 0;
    uint64_t expired = 0;
    int64_t ttl_sum_ms = 0;
    bool unfinished = false;  // a hash has more dead fields
  };
  // The limits of a round, and what it has done so far.
  struct Round {
    int databases_left = 0;
    uint64_t sample_size = 0;
    uint64_t accepted_permille = 0;
    int64_t budget_us = 0;
    uint64_t seen = 0;
    uint64_t expired = 0;
  };
  enum class Cleaning : uint8_t { kClean, kOutOfTime };

  // Works on one database until few of the keys it meets are dead, or few of the hashes have dead fields.
  Cleaning CleanDatabase(int db, int64_t deadline_us);
  Cleaning CleanKeys(int db, int64_t deadline_us);
  Cleaning CleanFields(int db, int64_t deadline_us);
  bool IsClean(const Sampled& sampled) const;
  // False: another node decides about it, see HiddenSlots.
  bool IsRemovable(const Entry& entry) const { return !data_.keyspace.hidden().HasKey(entry.Key()); }
  Sampled SampleDatabase(int db, int64_t now_ms);
  Sampled SampleFields(int db, int64_t now_ms);
  void NoteTtl(Progress& progress, const Sampled& sampled);
  void NextDatabase();
  void FinishRound();

  Dataset& data_;
  const Clock& clock_;
  const Pace& pace_;
  bool active_ = true;
  int next_db_ = 0;
  std::vector<Progress> progress_;
  Round round_;
  std::vector<Entry*> dead_;  // or with dead fields, of one sample; kept for its memory
};

}  // namespace respite
