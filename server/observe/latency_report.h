// The texts of LATENCY GRAPH and LATENCY DOCTOR.
#pragma once

#include <string>

#include "server/config/settings.h"
#include "server/runtime/latency.h"

namespace respite {

// As in Redis, all these figures are rounded to integers.
struct LatencySummary {      // LATENCY DOCTOR's figures about the spikes of one event
  int64_t samples = 0;       // number of spikes
  int64_t low_ms = 0;        // duration of the shortest spike
  int64_t high_ms = 0;       // duration of the longest spike
  int64_t average_ms = 0;    // average duration of all spikes
  int64_t deviation_ms = 0;  // mean absolute difference between durations and average_ms
  int64_t oldest_age_s = 0;  // how many seconds ago the oldest spike was; at least 1
};
LatencySummary SummarizeLatency(const LatencyMonitor::Event& event,  // computes the figures of one event
                                int64_t unix_time_s);

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
std::string LatencyDoctor(const LatencyMonitor& monitor,  // text of LATENCY DOCTOR: figures and advice
                          const Settings& settings, int64_t unix_time_s);

}  // namespace respite
