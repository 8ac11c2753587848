// LatencyWatch: an event of the latency monitor that lasts as long as the watch lives.
//
//   LatencyWatch watch(server, "aof-rename");
//
// Cost: a compare while nothing is monitored.
#pragma once

#include "server/server.h"

namespace respite {

class LatencyWatch {
 public:
  // `event` must outlive the watch.
  LatencyWatch(Server& server, Bytes event)
      : server_(server),
        event_(event),
        started_us_(server.settings().latency_monitor_threshold == 0 ? kOff : server.clock().MonotonicUs()) {}
  ~LatencyWatch() {
    if (started_us_ != kOff) Finish();
  }
  LatencyWatch(const LatencyWatch&) = delete;
  LatencyWatch& operator=(const LatencyWatch&) = delete;

 private:
  static constexpr int64_t kOff = -1;

  void Finish() const {
    const int64_t elapsed_ms = (server_.clock().MonotonicUs() - started_us_) / 1000;
    const int64_t threshold_ms = server_.settings().latency_monitor_threshold;
    if (threshold_ms == 0 || elapsed_ms < threshold_ms) return;
    server_.latency().Add(event_, elapsed_ms, server_.clock().WallMs() / 1000);
  }

  Server& server_;
  const Bytes event_;
  const int64_t started_us_;
};

}  // namespace respite
