#include "server/execution/command_latency.h"

#include <algorithm>
#include <limits>

#include "server/config/settings.h"

namespace respite {

void CommandLatency::AdoptThreshold() {
  constexpr int64_t kLongestMs = std::numeric_limits<int64_t>::max() / 1000;
  if (!parts_.env.latency.IsOn()) return parts_.observers.Detach(*this);
  parts_.observers.Attach(*this,
                          {.from_us = std::min(parts_.env.settings.latency_monitor_threshold, kLongestMs) * 1000});
}

void CommandLatency::OnCall(const FinishedCall& call) {
  parts_.env.latency.Note(call.command.Is(kFast) ? "fast-command" : "command", call.duration_us);
}

}  // namespace respite
