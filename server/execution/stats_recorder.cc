#include "server/execution/stats_recorder.h"

#include <memory>

#include "server/clients/session.h"
#include "server/config/settings.h"
#include "server/runtime/stats.h"

namespace respite {

void StatsRecorder::OnCall(const FinishedCall& call) {
  const uint64_t duration_us = static_cast<uint64_t>(call.duration_us);
  ++parts_.env.stats.commands;
  ++call.session.Caller().usage.commands;
  CommandStats& own = parts_.env.commands.StatsOf(call.command);
  ++own.calls;
  own.usec += duration_us;
  parts_.env.stats.command_us += duration_us;
  if (call.ending == FinishedCall::Ending::kFailed) ++own.failed_calls;
  if (!parts_.env.settings.latency_tracking) return;
  if (!own.latency) own.latency = std::make_unique<LatencyHistogram>();
  own.latency->Record(duration_us * 1000);
}

void StatsRecorder::OnRefusal(const RefusedCall& call) {
  if (call.command != nullptr) ++parts_.env.commands.StatsOf(*call.command).rejected_calls;
  CountError(call.error);
}

void StatsRecorder::CountError(Bytes text) { parts_.env.stats.CountError(text); }

}  // namespace respite
