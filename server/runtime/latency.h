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

class LatencyMonitor {  // keeps the latest spikes of each event, for LATENCY
 public:
  static constexpr size_t kSamples = 160;  // the number of samples that are kept of each event

  struct Sample {         // one spike: an event that took long
    int64_t unix_time_s;  // when the spike was reported
    int64_t latency_ms;   // how long the event took
  };
  struct Event {                  // spikes of one kind of event, for example "aof-write"
    std::vector<Sample> samples;  // oldest first, at most kSamples
    int64_t max_ms = 0;           // the longest of all spikes so far
  };

  LatencyMonitor(const Settings& settings, const Clock& clock, const Pace& pace)
      : settings_(settings), clock_(clock), pace_(pace) {}

  bool IsOn() const { return settings_.latency_monitor_threshold != 0; }  // latency-monitor-threshold is set
  int64_t NowUs() const { return pace_.NowUs(); }                         // real elapsed time (Pace)
  // Adds a spike if its duration reaches latency-monitor-threshold. Cost of a shorter event: two comparisons.
  void Note(Bytes event, int64_t elapsed_us) {  // adds a spike if it reaches the threshold
    if (IsOn() && elapsed_us / 1000 >= settings_.latency_monitor_threshold)
      Add(event, elapsed_us / 1000, clock_.WallMs() / 1000);
  }
  // Adds a spike, however short. If two spikes occur within one second, only the longer one is kept.
  void Add(Bytes event, int64_t latency_ms, int64_t unix_time_s);  // adds a spike in any case
  size_t Reset(Bytes event);              // forgets an event, ignoring case; returns how many were removed
  size_t Clear();                         // forgets all events; returns how many were removed
  const Event* Find(Bytes event) const {  // spikes of this event; null: none. Case matters
    auto found = events_.find(event);
    return found == events_.end() ? nullptr : &found->second;
  }
  const std::map<std::string, Event, std::less<>>& Events() const { return events_; }  // events with spikes, by name

 private:
  const Settings& settings_;  // values of the directives
  const Clock& clock_;        // time that TEST CLOCK can change
  const Pace& pace_;
  std::map<std::string, Event, std::less<>> events_;  // the events that have had spikes, by name
};

// Reports its own lifetime as an event to the latency monitor.
//
//   LatencyWatch watch(latency, "aof-rename");
//
// Cost while the monitor is off: a comparison.
class LatencyWatch {  // reports its own lifetime to the monitor, as the duration of an event
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
  static constexpr int64_t kOff = -1;  // the monitor is off

  LatencyMonitor& latency_;   // receives the event
  const Bytes event_;         // name of the event
  const int64_t started_us_;  // real elapsed time (Pace) at its creation; kOff: not measured
};

}  // namespace respite
