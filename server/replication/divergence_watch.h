// DivergenceWatch: a command of the primary's stream that fails here means that the data is not the same any more. The
// log tells, and the directive propagation-error-behavior may end the server.
#pragma once

#include "server/execution/call_observer.h"

namespace respite {

class Logger;
struct Settings;
struct ServerStats;

class DivergenceWatch final : public CallObserver {
 public:
  struct Parts {
    const Settings& settings;
    Logger& log;
    ServerStats& stats;
  };
  explicit DivergenceWatch(const Parts& parts) : parts_(parts) {}

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;

 private:
  void Report(Bytes error, Bytes command);

  const Parts parts_;
};

}  // namespace respite
