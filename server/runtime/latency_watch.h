// LatencyWatch: reports its own lifetime as an event to the latency monitor.
//
//   LatencyWatch watch(latency, "aof-rename");
//
// Cost: a comparison while the monitor is off.
#pragma once

#include "server/runtime/latency.h"

namespace respite {

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
