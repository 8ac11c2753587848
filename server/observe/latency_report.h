// The texts of LATENCY GRAPH and LATENCY DOCTOR.
#pragma once

#include <string>

#include "server/config/settings.h"
#include "server/runtime/latency.h"

namespace respite {

// As in Redis, all these figures are rounded to integers.
struct LatencySummary {      // figures of one event, such as "command"
  int64_t samples = 0;       // number of samples
  int64_t low_ms = 0;        // the shortest sample
  int64_t high_ms = 0;       // the longest sample
  int64_t average_ms = 0;    // average of all samples
  int64_t deviation_ms = 0;  // mean absolute deviation of the samples from average_ms
  int64_t period_s = 0;      // seconds since the oldest sample, at least 1
};
LatencySummary SummarizeLatency(const LatencyMonitor::Event& event, int64_t unix_time_s);  // computes these figures

// The graph is a curve with 80 samples per line, four rows high. Below each sample, its age is written downwards:
//
//   command - high 500 ms, low 300 ms (all time high 500 ms)
//   --------------------------------------------------------------------------------
//   #
//   o|
//   _||
//   ...
std::string LatencyGraph(Bytes name, const LatencyMonitor::Event& event, int64_t unix_time_s);  // text of LATENCY GRAPH

// Returns a text that describes the latency events and gives advice.
std::string LatencyDoctor(const LatencyMonitor& monitor, const Settings& settings, int64_t unix_time_s);  // advice

}  // namespace respite
