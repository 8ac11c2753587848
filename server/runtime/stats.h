// Server counters for INFO. The keyspace's counters are in KeyspaceStats (server/dataset/dataset.h), those of single
// commands in CommandTable.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "base/bytes.h"

namespace respite {

class InstantRate {  // a rate over the latest samples
 public:
  // Adds a sample of a growing counter and of its base, which is mostly the clock in µs.
  void Sample(uint64_t counter, int64_t base);  // adds a sample; both numbers grow with time
  // Returns the growth of the counter per unit of the base: the mean of the latest samples. Samples that do not exist
  // yet count as 0.
  double MeanRatio() const;  // growth of the counter per unit of the base
  // Returns the growth of the counter per second. Requires: the base is a clock in µs.
  double PerSecond() const { return MeanRatio() * 1e6; }  // requires a base in µs
  void Reset() { *this = {}; }                            // forgets all samples

 private:
  static constexpr size_t kSamples = 16;    // number of samples whose mean is the rate
  std::array<double, kSamples> samples_{};  // growth of the counter per unit of the base
  size_t next_ = 0;                         // index of the oldest sample
  uint64_t last_counter_ = 0;               // the counter at the last call of Sample
  int64_t last_base_ = 0;                   // the base at the last call of Sample
};

class RecentPeak {  // the largest value that was noted in the last kSeconds seconds
 public:
  void Note(size_t bytes, int64_t now_s);  // records a value
  size_t Most(int64_t now_s) const;        // the largest value in the last kSeconds seconds

 private:
  static constexpr size_t kSeconds = 8;  // the number of seconds that are remembered
  struct Slot {                          // the largest value of one second
    int64_t second = -1;                 // number of this second; -1: none
    size_t bytes = 0;                    // the largest value of this second
  };
  std::array<Slot, kSeconds> slots_{};  // the seconds, each at its number modulo kSeconds
};

struct ServerStats {  // counters for INFO; CONFIG RESETSTAT sets most of them to 0
  // Redis 7.2 has no such limit, so a script that returns ever new error codes can fill its memory.
  static constexpr size_t kMaxErrorKinds = 128;  // size limit of `errors`; further kinds are not counted there

  uint64_t commands = 0;                     // commands that ran since the start or CONFIG RESETSTAT
  uint64_t connections = 0;                  // connections accepted since the start or CONFIG RESETSTAT
  uint64_t rejected_connections = 0;         // number of connections refused because of maxclients, or the like
  uint64_t net_input_bytes = 0;              // bytes received since the start or CONFIG RESETSTAT
  uint64_t unexpected_errors = 0;            // number of errors of commands in the stream of the primary
  uint64_t sync_full = 0;                    // number of full resynchronisations with replicas
  uint64_t sync_partial_ok = 0;              // number of accepted partial resynchronisations
  uint64_t sync_partial_err = 0;             // number of refused partial resynchronisations
  uint64_t net_output_bytes = 0;             // bytes sent since the start or CONFIG RESETSTAT
  uint64_t total_reads = 0;                  // system calls that read from clients
  uint64_t total_writes = 0;                 // system calls that wrote to clients
  uint64_t error_replies = 0;                // error replies since the start or CONFIG RESETSTAT
  uint64_t output_limit_disconnections = 0;  // clients closed because of client-output-buffer-limit
  uint64_t query_limit_disconnections = 0;   // clients closed because of client-query-buffer-limit
  uint64_t evicted_clients = 0;              // clients closed because of maxmemory-clients
  uint64_t eviction_exceeded_us = 0;         // time spent above maxmemory, without a period that still lasts
  int64_t eviction_exceeded_since_us = 0;    // real time (Pace) since when maxmemory is exceeded; 0: not exceeded
  std::array<uint64_t, 4> acl_denials{};     // number of denied commands and logins, by AclLogEntry::Reason
  uint64_t payload_sanitizations = 0;        // number of packed values that RESTORE checked
  uint64_t reply_buffer_shrinks = 0;         // how often Redis would have shrunk a reply buffer
  uint64_t reply_buffer_expands = 0;         // how often Redis would have enlarged a reply buffer
  uint64_t turns = 0;                        // number of Turns of the event loop
  uint64_t turn_us = 0;                      // total time of Turns
  uint64_t longest_turn_us = 0;              // time of the longest Turn since the start or CONFIG RESETSTAT
  uint64_t command_us = 0;                   // total time of commands
  uint64_t timer_us = 0;                     // total time of the server's timer
  uint64_t journal_us = 0;            // total time of writing and syncing the append-only file at the end of Turns
  uint64_t max_commands_in_turn = 0;  // most commands in one Turn since the start or CONFIG RESETSTAT
  uint64_t forks = 0;                 // forks since the start or CONFIG RESETSTAT
  uint64_t last_fork_us = 0;          // duration of the last fork
  uint64_t commands_before_turn = 0;  // value of `commands` when the last Turn ended
  InstantRate ops;                    // commands per second
  InstantRate input;                  // received bytes per second
  InstantRate output;                 // sent bytes per second
  InstantRate turn_rate;              // Turns per second
  InstantRate turn_length;            // average µs of a Turn
  std::map<std::string, uint64_t, std::less<>> errors;  // number of error replies, by the first word of the error

  RecentPeak client_input;   // bytes of the largest input of a client
  RecentPeak client_output;  // bytes of the largest output of a client

  size_t startup_memory_bytes = 0;  // memory used directly after the start
  size_t peak_memory_bytes = 0;     // the most memory used so far

  void CountError(Bytes text);          // counts an error reply with this text
  void CountTurn(int64_t duration_us);  // a Turn has ended and took this time
  void CountFork(int64_t duration_us);  // the process has forked, which took this time
  void SampleRates(int64_t now_us);     // adds samples of all rates; `now_us`: real elapsed time (Pace)
  void Reset();                         // CONFIG RESETSTAT: sets counters to 0; keeps memory figures and client peaks
};

}  // namespace respite
