// The texts of LATENCY GRAPH and LATENCY DOCTOR.
#pragma once

#include <string>

#include "server/config/settings.h"
#include "server/runtime/latency.h"

namespace respite {

// The average and the deviation are rounded down to integers, as in Redis. If no spike is recorded, all figures are 0.
struct LatencySummary {      // figures about the recorded spikes of one event, for LATENCY DOCTOR and LATENCY GRAPH
  int64_t samples = 0;       // number of recorded spikes
  int64_t low_ms = 0;        // duration of the shortest recorded spike
  int64_t high_ms = 0;       // duration of the longest recorded spike
  int64_t average_ms = 0;    // average duration of the recorded spikes
  int64_t deviation_ms = 0;  // mean absolute difference between durations and average_ms
  int64_t oldest_age_s = 0;  // how many seconds ago the oldest recorded spike was; at least 1
};
LatencySummary SummarizeLatency(const LatencyMonitor::Event& event,  // computes the figures; `unix_time_s`: now
                                int64_t unix_time_s);

// Draws the recorded spikes. The graph is a curve with 80 spikes per line, four rows high. Below each spike, its age at
// `unix_time_s` (now) is written downwards:
//
//   command - high 500 ms, low 300 ms (all time high 500 ms)
//   --------------------------------------------------------------------------------
//   #
//   o|
//   _||
//   ...
std::string LatencyGraph(Bytes name, const LatencyMonitor::Event& event, int64_t unix_time_s);  // text of LATENCY GRAPH

// Returns a text that describes the latency events and gives advice. `unix_time_s`: now.
std::string LatencyDoctor(const LatencyMonitor& monitor,  // text of LATENCY DOCTOR: figures and advice
                          const Settings& settings, int64_t unix_time_s);

}  // namespace respite
