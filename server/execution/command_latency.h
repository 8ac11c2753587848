// CommandLatency: reports slow commands to the latency monitor. Attached while latency-monitor-threshold is set.
#pragma once

#include "server/execution/call_observer.h"
#include "server/runtime/env.h"
#include "server/runtime/latency.h"

namespace respite {

struct Settings;

class CommandLatency final : public CallObserver {
 public:
  struct Parts {
    const Env& env;
    CallObservers& observers;
  };
  explicit CommandLatency(const Parts& parts) : parts_(parts) { AdoptThreshold(); }

  // Must be called when latency-monitor-threshold has changed.
  void AdoptThreshold();

  void OnCall(const FinishedCall& call) override;

 private:
  const Parts parts_;
};

}  // namespace respite
