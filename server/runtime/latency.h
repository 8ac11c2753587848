// LatencyMonitor: keeps the latest slow events of each kind, for LATENCY. An event is slow if it took at least
// latency-monitor-threshold milliseconds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/real_clock.h"
#include "server/config/settings.h"

namespace respite {

class LatencyMonitor {  // for each kind, keeps the latest slow events (LATENCY)
 public:
  static constexpr size_t kSamples = 160;  // maximum number of samples that are kept of each kind of event

  struct Sample {         // one slow event: when, and how long
    int64_t unix_time_s;  // Unix time of the clock when the event ended, in seconds
    int64_t latency_ms;   // how long the event took
  };
  struct Event {                  // the slow events of one kind, for example of "aof-write"
    std::vector<Sample> samples;  // the latest slow events, oldest first, at most kSamples
    int64_t max_ms = 0;           // duration of the slowest event so far, perhaps older than all `samples`
  };

  LatencyMonitor(const Settings& settings, const Clock& clock, const RealClock& real_clock)
      : settings_(settings), clock_(clock), real_clock_(real_clock) {}

  bool IsOn() const { return settings_.latency_monitor_threshold != 0; }  // true: latency-monitor-threshold is set
  int64_t NowUs() const { return real_clock_.NowUs(); }                   // real time in µs
  // Calls Add if the event took at least latency-monitor-threshold ms. Cost of a shorter event: two comparisons.
  void Note(Bytes event, int64_t elapsed_us) {  // records an event, if slow enough
    if (IsOn() && elapsed_us / 1000 >= settings_.latency_monitor_threshold)
      Add(event, elapsed_us / 1000, clock_.WallMs() / 1000);
  }
  // Records an event. Keeps only the longest of the events of one kind that end within the same second.
  void Add(Bytes event, int64_t latency_ms, int64_t unix_time_s);  // records an event, however short; unix_time_s: end
  size_t Reset(Bytes event);              // forgets this kind of event, ignoring case; returns how many kinds matched
  size_t Clear();                         // forgets all events; returns how many kinds there were
  const Event* Find(Bytes event) const {  // the slow events of this kind; null: none. Case matters
    auto found = events_.find(event);
    return found == events_.end() ? nullptr : &found->second;
  }
  const std::map<std::string, Event, std::less<>>& Events() const {  // the slow events of each kind, by name
    return events_;
  }

 private:
  const Settings& settings_;                          // values of the directives
  const Clock& clock_;                                // time that clients see, and TEST CLOCK can move
  const RealClock& real_clock_;                       // real time, which TEST CLOCK cannot move
  std::map<std::string, Event, std::less<>> events_;  // the slow events of each kind, by name
};

// Reports its own lifetime as an event to the latency monitor.
//
//   LatencyWatch watch(latency, "aof-rename");
//
// Cost while the monitor is off: a comparison.
class LatencyWatch {  // reports how long it existed, as an event, when it is destroyed
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
  static constexpr int64_t kOff = -1;  // started_us_ while the monitor is off

  LatencyMonitor& latency_;   // the monitor that gets the event
  const Bytes event_;         // name of the event, such as "aof-rename"
  const int64_t started_us_;  // when this object was made (real time); kOff: not measured
};

}  // namespace respite
