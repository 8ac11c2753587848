// Expiry: removes expired keys, a little at a time.
//
// Reads and writes purge the expired keys that they find; Expiry finds the others. Each timer tick begins a round,
// which iterates over the indexes of keys with a deadline, database by database, from where the last round stopped. The
// round checks samples of neighbouring keys in a database, until at most the accepted share of a sample has expired (at
// active-expire-effort 1: 5 %). The share in the whole database is then even lower, because an iteration reaches the
// keys unseen for longest first. Without expired keys a round costs almost nothing.
//
// After the keys of a database, the round treats the database's index of hashes with deadlines on fields in the same
// way. A hash knows its next deadline, so fields that have not expired cost nothing. A hash with very many expired
// fields is cleaned over several samples.
//
// Time has two limits: a round may use a share of the timer's period (at effort 1: 25 %), and works in slices of
// kSliceUs. Clients are served between slices.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "server/config/settings.h"
#include "server/dataset/unit.h"

namespace respite {

class KeyRemovalPermission {  // interface: tells whether expired or evicted keys may be removed now
 public:
  enum class Answer : uint8_t {
    kYes,
    kYesHere,  // eviction on a replica with replica-ignore-maxmemory no: its primary keeps the keys
    kLater,    // a slow script is running, or data is being loaded
    kNo,       // on a replica (evictions: with replica-ignore-maxmemory), in a pause, in import-mode, or after the stop
  };
  virtual ~KeyRemovalPermission() = default;
  virtual Answer Now() const = 0;
};

class Expiry {  // removes expired keys that no command has found, a little at a time
 public:
  static constexpr int64_t kSliceUs = 500;  // how long a slice may run (µs) before clients are served

  enum class Outcome : uint8_t { kFinished, kMore };  // kMore: the round needs another slice
  struct Slice {                                      // what one call of RunSlice has done
    Outcome outcome;                                  // whether the round has finished
    int64_t elapsed_us;                               // how long RunSlice took
  };

  Expiry(Dataset& data, const Clock& clock, const RealClock& real_clock)
      : data_(data), clock_(clock), real_clock_(real_clock) {}

  // Ends an unfinished round. Then begins a round, if active expiry is on. Called at each timer tick, `hz` times per
  // second.
  void StartRound(const Settings& settings, int hz);  // ends the last round, begins one; called `hz` times per second
  // Continues the round of active expiry: removes expired keys. Stops after kSliceUs, or when the time of the round is
  // used up. Exceeds this by at most the time of one sample.
  Slice RunSlice();  // continues the round for at most kSliceUs

  // Switches active expiry on or off, for DEBUG SET-ACTIVE-EXPIRE. Switching it off also ends the current round.
  void SetActive(bool active);         // switches active expiry on or off
  int64_t AverageTtlMs(int db) const;  // mean remaining time in ms of keys with a deadline, from samples; 0: unknown

 private:
  struct Progress {              // how far the rounds have come in one database
    uint64_t cursor = 0;         // position in the index of keys with a deadline
    uint64_t field_cursor = 0;   // position in the index of hashes with deadlines on fields
    int64_t average_ttl_ms = 0;  // mean remaining time of keys, estimated from samples; 0: unknown
  };
  struct SampleResult {          // how many keys (or hashes) with deadlines were sampled, and how many had expired
    uint64_t seen = 0;           // number of keys or hashes in the sample
    uint64_t expired = 0;        // keys, or hashes with expired fields, in the sample
    int64_t ttl_sum_ms = 0;      // sum of the remaining times of the keys that have not expired
    bool is_unfinished = false;  // a hash still has expired fields after this sample
  };
  struct Round {                             // the limits and the progress of a round
    int databases_left = 0;                  // number of databases not yet cleaned in this round
    uint64_t sample_size = 0;                // wanted number of keys, or of hashes, in one sample
    uint64_t accepted_expired_permille = 0;  // a database is done if at most this share of a sample has expired
    int64_t budget_us = 0;                   // time left for this round, in µs
    uint64_t seen = 0;
    uint64_t expired = 0;  // sampled keys of this round that were expired
  };
  enum class Cleaning : uint8_t { kClean, kOutOfTime };  // kClean: few keys of the database are expired

  // Cleans one database until few of the sampled keys have expired, and few of the sampled hashes have expired fields.
  // Stops when `deadline_us` has passed, and then returns kOutOfTime.
  Cleaning PurgeExpiredInDatabase(int db, int64_t deadline_us);  // purges by samples, until few are expired
  Cleaning PurgeExpiredKeys(int db, int64_t deadline_us);    // removes expired keys until few of a sample are expired
  Cleaning PurgeExpiredFields(int db, int64_t deadline_us);  // removes expired fields until few hashes have any
  bool IsClean(const SampleResult& sampled) const;           // true: few keys of a complete sample were expired
  bool IsRemovable(const Entry& entry) const {  // false: the key's slot is being imported, so another node owns the key
    return !data_.keyspace.hidden().HasKey(entry.Key());
  }
  SampleResult SampleAndPurgeKeys(int db, int64_t now_ms);        // samples keys and removes the expired ones
  SampleResult SampleAndPurgeFields(int db, int64_t now_ms);      // samples hashes and removes expired fields
  void NoteTtl(Progress& progress, const SampleResult& sampled);  // updates average_ttl_ms from a sample
  void AdvanceToNextDatabase();  // moves to the next database; this one is done in this round
  void FinishRound();            // ends the round and updates the statistics

  Dataset& data_;
  const Clock& clock_;                   // the clock that TEST CLOCK can move
  const RealClock& real_clock_;          // measures how long the rounds take
  bool is_active_ = true;                // false after DEBUG SET-ACTIVE-EXPIRE 0
  int next_db_ = 0;                      // database that is cleaned now, or first in the next round
  std::vector<Progress> progress_;       // how far the rounds have come in each database
  Round round_;                          // the current round
  std::vector<Entry*> expired_entries_;  // expired keys, or hashes with expired fields, of the present sample
};

}  // namespace respite
