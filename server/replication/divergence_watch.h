// DivergenceWatch: a command of the primary's stream that fails here means that the data is not the same any more. The
// log tells, and the link ends (unless replica-ignore-command-errors is yes), so that the primary does not take the
// command for applied. The directive propagation-error-behavior may end the server. So may a write that the disk does
// not take (replica-ignore-disk-write-errors): it would be lost with the process.
#pragma once

#include <functional>

#include "server/execution/call_observer.h"

namespace respite {

class Durability;
class Logger;
class Pace;
struct Settings;
struct ServerStats;

class DivergenceWatch final : public CallObserver {
 public:
  struct Parts {
    const Settings& settings;
    const Pace& pace;
    Logger& log;
    ServerStats& stats;
    const Durability& durability;
    // Ends the link; empty: nothing does.
    std::function<void(Bytes command, Bytes error)> on_failure = {};
  };
  explicit DivergenceWatch(const Parts& parts) : parts_(parts) {}

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;

 private:
  // Why the command failed: this server does not know its form, or perhaps the replica's own clients have changed the
  // data.
  enum class Cause : uint8_t { kThisServer, kPerhapsOwnClients };

  void Report(Bytes error, Bytes command, Cause cause);
  void CheckDisk();

  const Parts parts_;
  int64_t warned_at_ms_ = INT64_MIN / 2;
};

}  // namespace respite
