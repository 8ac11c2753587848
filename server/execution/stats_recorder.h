// StatsRecorder: records statistics of every command: INFO stats, commandstats, errorstats and latencystats, LATENCY
// HISTOGRAM, and the number of commands per client. It is the only observer that is always active, so the Executor
// calls it directly.
#pragma once

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/execution/call_observer.h"
#include "server/runtime/env.h"

namespace respite {

class StatsRecorder final : public CallObserver {
 public:
  struct Parts {
    const Env& env;
  };
  explicit StatsRecorder(const Parts& parts) : parts_(parts) {}

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;
  // Counts an error reply of a command that ran.
  void CountError(Bytes text);

 private:
  const Parts parts_;
};

}  // namespace respite
