// The texts of LATENCY GRAPH and LATENCY DOCTOR.
#pragma once

#include <string>

#include "server/config/settings.h"
#include "server/runtime/latency.h"

namespace respite {

// Redis rounds all these figures to integers.
struct LatencySummary {      // figures of one event, such as "command"
  int64_t samples = 0;       // number of samples
  int64_t low_ms = 0;        // the shortest sample
  int64_t high_ms = 0;       // the longest sample
  int64_t average_ms = 0;    // of all samples
  int64_t deviation_ms = 0;  // mean absolute deviation
  int64_t period_s = 0;      // since the oldest sample, at least 1
};
LatencySummary SummarizeLatency(const LatencyMonitor::Event& event, int64_t unix_time_s);

// The text is a curve of 80 samples per line, four rows high, with the age of each sample written downwards below it:
//
//   command - high 500 ms, low 300 ms (all time high 500 ms)
//   --------------------------------------------------------------------------------
//   #
//   o|
//   _||
//   ...
std::string LatencyGraph(Bytes name, const LatencyMonitor::Event& event, int64_t unix_time_s);  // text of LATENCY GRAPH

// The text of LATENCY DOCTOR describes the events and gives advice.
std::string LatencyDoctor(const LatencyMonitor& monitor, const Settings& settings, int64_t unix_time_s);

}  // namespace respite
