#include "server/runtime/latency.h"

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

size_t LatencyMonitor::Reset(Bytes event) {
  return std::erase_if(events_, [event](const auto& known) { return EqualsIgnoreCase(known.first, event); });
}

size_t LatencyMonitor::Clear() {
  size_t count = events_.size();
  events_.clear();
  return count;
}

}  // namespace respite
