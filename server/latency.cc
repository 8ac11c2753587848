#include "server/latency.h"

#include <algorithm>

namespace respite {

void LatencyMonitor::Add(Bytes event, int64_t latency_ms, int64_t unix_time_s) {
  auto found = events_.find(event);
  if (found == events_.end()) found = events_.emplace(std::string(event), Event{}).first;
  Event& record = found->second;
  record.max_ms = std::max(record.max_ms, latency_ms);
  if (!record.samples.empty() && record.samples.back().unix_time_s == unix_time_s) {
    record.samples.back().latency_ms = std::max(record.samples.back().latency_ms, latency_ms);
    return;
  }
  if (record.samples.size() == kSamples) record.samples.erase(record.samples.begin());
  record.samples.push_back({unix_time_s, latency_ms});
}

bool LatencyMonitor::Reset(Bytes event) {
  auto found = events_.find(event);
  if (found == events_.end()) return false;
  events_.erase(found);
  return true;
}

}  // namespace respite
