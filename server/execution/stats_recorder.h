// StatsRecorder: what is counted of every command: INFO stats, commandstats, errorstats and latencystats, LATENCY
// HISTOGRAM, and how many commands a client has run. The one observer that always listens, so the Executor calls it
// directly.
#pragma once

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/execution/call_observer.h"

namespace respite {

struct ServerStats;
struct Settings;

class StatsRecorder final : public CallObserver {
 public:
  struct Parts {
    const Settings& settings;
    CommandTable& commands;
    ServerStats& stats;
  };
  explicit StatsRecorder(const Parts& parts) : parts_(parts) {}

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;
  // An error reply of a command that ran.
  void CountError(Bytes text);

 private:
  const Parts parts_;
};

}  // namespace respite
