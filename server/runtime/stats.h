// Server counters for INFO. The keyspace's counters are in KeyspaceStats (server/dataset/dataset.h), the counters of
// single commands in CommandTable.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "base/bytes.h"

namespace respite {

class InstantRate {  // how fast a counter grows now: the mean of the latest samples
 public:
  // Adds a sample: the growth of `counter` since the last call, divided by the growth of `base`. `base` is usually the
  // time in µs.
  void Sample(uint64_t counter, int64_t base);  // adds a sample: growth of counter / growth of base
  // Returns the mean of the latest 16 samples of Sample: growth of the counter per unit of its base, usually per µs. As
  // long as there are fewer than 16 samples, the missing ones count as 0.
  double MeanRatio() const;                               // mean growth of the counter per unit of the base
  double PerSecond() const { return MeanRatio() * 1e6; }  // mean growth per second; requires: `base` was a clock in µs
  void Reset() { *this = {}; }                            // forgets all samples

 private:
  static constexpr size_t kSamples = 16;    // number of samples whose mean is the rate
  std::array<double, kSamples> samples_{};  // the counter's growth divided by the base's growth, for each sample
  size_t next_ = 0;                         // index in samples_ that the next sample overwrites
  uint64_t last_counter_ = 0;               // value of the counter at the last call of Sample
  int64_t last_base_ = 0;                   // value of `base` at the last call of Sample
};

class RecentPeak {  // the largest of all values in the last 8 seconds
 public:
  void Note(size_t bytes, int64_t now_s);  // adds a value that was measured at this time
  size_t Most(int64_t now_s) const;        // the largest value of the last 8 seconds; 0: none

 private:
  static constexpr size_t kSeconds = 8;  // for how many seconds a value counts
  struct Slot {                          // the largest value of one second
    int64_t second = -1;                 // the second (`now_s` of Note) for which `bytes` counts; -1: none yet
    size_t bytes = 0;                    // the largest value in this second
  };
  std::array<Slot, kSeconds> slots_{};  // the latest seconds, each at the index `second` modulo kSeconds
};

struct ServerStats {  // counters for INFO; CONFIG RESETSTAT sets most of them to 0
  // Limits the memory for error codes, because scripts may return any number of different ones. Redis 7.2 has no such
  // limit.
  static constexpr size_t kMaxErrorKinds = 128;  // maximum number of kinds in `errors`; further ones are not counted

  uint64_t commands = 0;                     // number of commands that ran (total_commands_processed)
  uint64_t connections = 0;                  // number of connections from clients that were accepted
  uint64_t rejected_connections = 0;         // connections refused: maxclients, protected mode
  uint64_t net_input_bytes = 0;              // number of bytes received from clients and replicas
  uint64_t unexpected_errors = 0;            // commands of the primary that failed on this replica
  uint64_t sync_full = 0;                    // number of full resynchronisations that replicas were granted
  uint64_t sync_partial_ok = 0;              // number of partial resynchronisations that replicas were granted
  uint64_t sync_partial_err = 0;             // number of partial resynchronisations that were refused
  uint64_t net_output_bytes = 0;             // number of bytes sent to clients and replicas
  uint64_t total_reads = 0;                  // how often bytes were read from a client's socket
  uint64_t total_writes = 0;                 // how often bytes were written to a client's socket
  uint64_t error_replies = 0;                // number of errors, also of commands in scripts (total_error_replies)
  uint64_t output_limit_disconnections = 0;  // clients closed because of client-output-buffer-limit
  uint64_t query_limit_disconnections = 0;   // clients closed because of client-query-buffer-limit
  uint64_t evicted_clients = 0;              // clients closed because of maxmemory-clients
  uint64_t evicted_scripts = 0;              // number of scripts of EVAL that were removed from the cache
  uint64_t eviction_exceeded_us = 0;         // how long memory was above maxmemory in total, without the current period
  int64_t eviction_exceeded_since_us = 0;    // when memory exceeded maxmemory (real time); 0: memory is below the limit
  std::array<uint64_t, 5>
      acl_denials{};  // number of refusals by AclLogEntry::Reason: commands, keys, channels, logins, databases
  uint64_t payload_sanitizations = 0;                   // number of values in RESTORE that were fully checked
  uint64_t reply_buffer_shrinks = 0;                    // how often Redis would have shrunk a client's reply buffer
  uint64_t reply_buffer_expands = 0;                    // how often Redis would have enlarged a client's reply buffer
  uint64_t turns = 0;                                   // number of event loop turns in which this server had events
  uint64_t turn_us = 0;                                 // total duration of all turns in µs
  uint64_t longest_turn_us = 0;                         // how long the longest turn took
  uint64_t command_us = 0;                              // how long all commands took together
  uint64_t timer_us = 0;                                // how long all timer ticks took together
  uint64_t aof_us = 0;                                  // how long the event loop was busy with the append-only file
  uint64_t max_commands_in_turn = 0;                    // the most commands that ran in one turn
  uint64_t forks = 0;                                   // number of forks
  uint64_t last_fork_us = 0;                            // how long the last fork took
  uint64_t commands_before_turn = 0;                    // value of `commands` when the last turn ended
  InstantRate ops;                                      // commands per second
  InstantRate input;                                    // received bytes per second
  InstantRate output;                                   // sent bytes per second
  InstantRate turn_rate;                                // turns per second
  InstantRate turn_length;                              // average length of a turn in µs
  std::map<std::string, uint64_t, std::less<>> errors;  // number of errors by first word, such as "ERR"

  RecentPeak client_input;   // the largest input buffer of a client in bytes, of the last 8 seconds
  RecentPeak client_output;  // the largest output buffer of a client in bytes, of the last 8 seconds

  size_t startup_memory_bytes = 0;  // memory in use just after the start
  size_t peak_memory_bytes = 0;     // the most memory that any measurement has found
  int64_t peak_memory_time_s = 0;   // when peak_memory_bytes was measured (Unix time in seconds)

  void NotePeakMemory(size_t used_bytes, int64_t now_s);  // raises peak_memory_bytes, if higher; now_s: Unix time
  void CountError(Bytes text);                            // counts an error by its first word; without a blank: as ERR
  void CountTurn(int64_t duration_us);                    // counts a turn of the event loop that took this time
  void CountFork(int64_t duration_us);                    // counts a fork that took this time
  void SampleRates(int64_t now_us);                       // adds a sample to each rate; `now_us` is a real time
  void Reset();  // CONFIG RESETSTAT: zeroes counters, but not memory figures and client peaks
};

}  // namespace respite
