// Server counters for INFO. The keyspace's counters are in KeyspaceStats (server/dataset/dataset.h), those of single
// commands in CommandTable.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "base/bytes.h"

namespace respite {

// A rate over the latest samples, which the server's timer takes.
class InstantRate {
 public:
  // Adds a sample of a growing counter and of its base, which is mostly the clock in µs.
  void Sample(uint64_t counter, int64_t base);
  // Returns the growth of the counter per unit of the base: the mean of the latest samples.
  double Ratio() const;
  // Returns the growth of the counter per second. Requires: the base is a clock in µs.
  double PerSecond() const { return Ratio() * 1e6; }
  void Reset() { *this = {}; }

 private:
  static constexpr size_t kSamples = 16;
  std::array<double, kSamples> samples_{};
  size_t next_ = 0;
  uint64_t last_counter_ = 0;
  int64_t last_base_ = 0;
};

// The largest value noted in the last kSeconds seconds.
class RecentPeak {
 public:
  void Note(size_t bytes, int64_t now_s);
  size_t Most(int64_t now_s) const;

 private:
  static constexpr size_t kSeconds = 8;
  struct Slot {
    int64_t second = -1;
    size_t bytes = 0;
  };
  std::array<Slot, kSeconds> slots_{};
};

struct ServerStats {
  // Maximum number of error kinds that are counted separately. Redis 7.2 has no limit, so a script that invents error
  // codes fills its memory.
  static constexpr size_t kErrorKindsMax = 128;

  uint64_t commands = 0;
  uint64_t connections = 0;
  uint64_t rejected_connections = 0;
  uint64_t net_input_bytes = 0;
  uint64_t unexpected_errors = 0;  // in the primary's stream
  uint64_t sync_full = 0;
  uint64_t sync_partial_ok = 0;
  uint64_t sync_partial_err = 0;
  uint64_t net_output_bytes = 0;
  uint64_t total_reads = 0;
  uint64_t total_writes = 0;
  uint64_t error_replies = 0;
  uint64_t output_limit_disconnections = 0;
  uint64_t query_limit_disconnections = 0;
  uint64_t evicted_clients = 0;
  uint64_t eviction_exceeded_us = 0;       // total time above maxmemory, without a period that still lasts
  int64_t eviction_exceeded_since_us = 0;  // monotonic; 0: memory is within maxmemory
  std::array<uint64_t, 4> acl_denials{};   // by AclLogEntry::Reason
  uint64_t payload_sanitizations = 0;      // packed values that RESTORE checked
  uint64_t reply_room_shrinks = 0;         // see OutputAccount::RoomBytes
  uint64_t reply_room_grows = 0;
  uint64_t turns = 0;
  uint64_t turn_us = 0;
  uint64_t longest_turn_us = 0;
  uint64_t command_us = 0;
  uint64_t timer_us = 0;
  uint64_t journal_us = 0;  // writing and syncing the append-only file at the end of Turns
  uint64_t most_commands_in_turn = 0;
  uint64_t forks = 0;
  uint64_t last_fork_us = 0;
  uint64_t commands_before_turn = 0;  // `commands` when the last Turn ended
  InstantRate ops;
  InstantRate input;
  InstantRate output;
  InstantRate turn_rate;
  InstantRate turn_length;
  std::map<std::string, uint64_t, std::less<>> errors;  // by the first word of the error

  RecentPeak client_input;  // of single clients
  RecentPeak client_output;

  size_t startup_memory_bytes = 0;
  size_t peak_memory_bytes = 0;

  void CountError(Bytes text);
  void CountTurn(int64_t duration_us);
  void CountFork(int64_t duration_us);
  // Samples the counters for the rates, at this time of the Pace.
  void SampleRates(int64_t now_us);
  // CONFIG RESETSTAT: clears the statistics. Keeps the memory figures, as Redis does.
  void Reset();
};

}  // namespace respite
