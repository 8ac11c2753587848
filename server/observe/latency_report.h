// What LATENCY GRAPH and LATENCY DOCTOR tell people of the recorded spikes.
#pragma once

#include <string>

#include "server/config/settings.h"
#include "server/dataset/latency.h"

namespace respite {

// The figures of one event. Integers throughout, as Redis rounds them.
struct LatencySummary {
  int64_t samples = 0;
  int64_t low_ms = 0;
  int64_t high_ms = 0;
  int64_t average_ms = 0;
  int64_t deviation_ms = 0;  // mean distance from the average
  int64_t period_s = 0;      // since the oldest sample, at least 1
};
LatencySummary Summarize(const LatencyMonitor::Event& event, int64_t unix_time_s);

// A curve of 80 samples per band, four rows high, with the age of each sample below it, top to bottom:
//
//   command - high 500 ms, low 300 ms (all time high 500 ms)
//   --------------------------------------------------------------------------------
//     #
//    o|
//   _||
//   ...
std::string LatencyGraph(Bytes name, const LatencyMonitor::Event& event, int64_t unix_time_s);

// The events, what they look like, and what may help.
std::string LatencyDoctor(const LatencyMonitor& monitor, const Settings& settings, int64_t unix_time_s);

}  // namespace respite
