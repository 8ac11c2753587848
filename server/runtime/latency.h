// LatencyMonitor: the latest spikes of each kind of event that took at least latency-monitor-threshold milliseconds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/pace.h"
#include "server/config/settings.h"

namespace respite {

class LatencyMonitor {
 public:
  static constexpr size_t kSamples = 160;

  struct Sample {
    int64_t unix_time_s;
    int64_t latency_ms;
  };
  // A class of events, for example "aof-write", with its latest spikes.
  struct Event {
    std::vector<Sample> samples;  // oldest first, at most kSamples
    int64_t max_ms = 0;
  };

  LatencyMonitor(const Settings& settings, const Clock& clock, const Pace& pace)
      : settings_(settings), clock_(clock), pace_(pace) {}

  bool IsOn() const { return settings_.latency_monitor_threshold != 0; }
  int64_t NowUs() const { return pace_.NowUs(); }
  // Records an event of this duration if it reaches the threshold. Cost: a comparison if not.
  void Note(Bytes event, int64_t elapsed_us) {
    if (IsOn() && elapsed_us / 1000 >= settings_.latency_monitor_threshold)
      Add(event, elapsed_us / 1000, clock_.WallMs() / 1000);
  }
  // Records an event regardless of the threshold. If two spikes occur within one second, only the larger one is kept.
  void Add(Bytes event, int64_t latency_ms, int64_t unix_time_s);
  // Removes the event of this name (ignoring case) with all its samples. Returns the number of removed events, which is
  // greater than 1 if names differ only in case.
  size_t Reset(Bytes event);
  // Removes all events with their samples. Returns the number of removed events.
  size_t Clear();
  // Returns null if the event is unknown. Case-sensitive.
  const Event* Find(Bytes event) const {
    auto found = events_.find(event);
    return found == events_.end() ? nullptr : &found->second;
  }
  const std::map<std::string, Event, std::less<>>& Events() const { return events_; }

 private:
  const Settings& settings_;
  const Clock& clock_;
  const Pace& pace_;
  std::map<std::string, Event, std::less<>> events_;
};

// Reports its own lifetime as an event to the latency monitor.
//
//   LatencyWatch watch(latency, "aof-rename");
//
// Cost: a comparison while the monitor is off.
class LatencyWatch {
 public:
  // `event` must outlive the watch.
  LatencyWatch(LatencyMonitor& latency, Bytes event)
      : latency_(latency), event_(event), started_us_(latency.IsOn() ? latency.NowUs() : kOff) {}
  ~LatencyWatch() {
    if (started_us_ != kOff) latency_.Note(event_, latency_.NowUs() - started_us_);
  }
  LatencyWatch(const LatencyWatch&) = delete;
  LatencyWatch& operator=(const LatencyWatch&) = delete;

 private:
  static constexpr int64_t kOff = -1;

  LatencyMonitor& latency_;
  const Bytes event_;
  const int64_t started_us_;
};

}  // namespace respite
