// DivergenceWatch: detects that the data of this replica has diverged from its primary's, because a command of the
// primary's stream failed here. It logs the error and ends the link, so that the primary does not count the command as
// applied (unless replica-ignore-command-errors is yes). The directive propagation-error-behavior may abort the
// process. A write that cannot reach the disk may also abort it (replica-ignore-disk-write-errors), since the write
// would be lost with the process.
#pragma once

#include <functional>

#include "server/execution/call_observer.h"
#include "server/runtime/env.h"

namespace respite {

class Durability;

class DivergenceWatch final : public CallObserver {
 public:
  struct Parts {
    const Env& env;
    const LateBound<const Durability>& durability;
    // Ends the link; if empty, the link stays
    std::function<void(Bytes command, Bytes error)> on_failure = {};
  };
  explicit DivergenceWatch(const Parts& parts) : parts_(parts) {}

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;

 private:
  // Why the command failed: this server does not know its form, or the replica's own clients may have changed the data.
  enum class Cause : uint8_t { kThisServer, kPerhapsOwnChange };

  void Report(Bytes error, Bytes command, Cause cause);
  void CheckDisk();

  const Parts parts_;
  int64_t warned_at_ms_ = INT64_MIN / 2;
};

}  // namespace respite
