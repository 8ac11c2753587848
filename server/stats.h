// Counters of the server as INFO shows them. The keyspace's own are in KeyspaceStats (server/unit.h), those of each
// command in CommandTable.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "base/bytes.h"

namespace respite {

// A rate over the last samples, taken by the timer of the server.
class InstantRate {
 public:
  // `counter` is the current reading of an ever growing count.
  void Sample(uint64_t counter, int64_t now_us);
  // Per second.
  double PerSecond() const;
  void Reset() { *this = {}; }

 private:
  static constexpr size_t kSamples = 16;
  std::array<double, kSamples> samples_{};
  size_t next_ = 0;
  uint64_t last_counter_ = 0;
  int64_t last_us_ = 0;
};

struct ServerStats {
  uint64_t commands = 0;
  uint64_t connections = 0;
  uint64_t rejected_connections = 0;
  uint64_t net_input_bytes = 0;
  uint64_t net_output_bytes = 0;
  uint64_t total_reads = 0;
  uint64_t total_writes = 0;
  uint64_t error_replies = 0;
  uint64_t output_limit_disconnections = 0;
  uint64_t query_limit_disconnections = 0;
  uint64_t turns = 0;
  uint64_t turn_us = 0;
  uint64_t turn_commands = 0;
  size_t peak_memory_bytes = 0;
  InstantRate ops;
  InstantRate input;
  InstantRate output;
  InstantRate turn_rate;
  std::map<std::string, uint64_t, std::less<>> errors;  // by the first word of the error

  void CountError(Bytes text);
  // CONFIG RESETSTAT.
  void Reset() { *this = {}; }
};

}  // namespace respite
