// StatsRecorder: records statistics of every command: INFO stats, commandstats, errorstats and latencystats, LATENCY
// HISTOGRAM, and the number of commands per client. This is the only observer that is always active, so the Executor
// calls this observer directly.
#pragma once

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/execution/call_observer.h"
#include "server/runtime/env.h"

namespace respite {

class StatsRecorder final : public CallObserver {  // counts commands for INFO stats, commandstats, errorstats …
 public:
  struct Parts {  // the objects that StatsRecorder uses; its constructor gets them
    const Env& env;
  };
  explicit StatsRecorder(const Parts& parts) : parts_(parts) {}

  void OnCall(const FinishedCall& call) override;    // counts the command, its duration, and whether it failed
  void OnRefusal(const RefusedCall& call) override;  // counts the refusal and its error
  void CountError(Bytes text);                       // counts an error reply by its first word, for INFO errorstats

 private:
  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
