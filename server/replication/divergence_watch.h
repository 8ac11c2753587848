// DivergenceWatch: detects that the data of this replica has diverged from its primary's, because a command of the
// primary's stream failed here. Logs the error and ends the link, so that the primary does not count the command as
// applied. Does not end the link if replica-ignore-command-errors is set, if the replica's own changes may be the
// cause, or for REPLCONF and PING. Aborts the process if propagation-error-behavior demands this and the replica is
// read-only. Also aborts the process if a write cannot reach the disk, unless replica-ignore-disk-write-errors is set.
#pragma once

#include <functional>

#include "server/execution/call_observer.h"
#include "server/runtime/env.h"

namespace respite {

class Durability;

class DivergenceWatch final : public CallObserver {  // detects that a command of the primary fails on this replica
 public:
  struct Parts {  // the arguments of the constructor
    const Env& env;
    const LateBound<const Durability>& durability;                    // tells whether writes can reach the disk
    std::function<void(Bytes command, Bytes error)> on_failure = {};  // called to end the link; empty: the link stays
  };
  explicit DivergenceWatch(const Parts& parts) : parts_(parts) {}

  void OnCall(const FinishedCall& call) override;    // handles the primary's failed commands, and disk errors
  void OnRefusal(const RefusedCall& call) override;  // handles refused commands of the primary, such as unknown ones

 private:
  // Why a command failed. kPerhapsOwnChange: the error depends on the data, which clients of this replica, or its
  // eviction, may have changed. kThisServer: any other failure, such as a command that this server does not support.
  enum class Cause : uint8_t { kThisServer, kPerhapsOwnChange };

  void Report(Bytes error, Bytes command, Cause cause);  // logs the failed command; may end the link, or abort
  void HandleDiskWriteError();  // writes cannot be persisted: aborts, or warns with replica-ignore-disk-write-errors

  const Parts parts_;                     // the arguments of the constructor
  int64_t warned_at_ms_ = INT64_MIN / 2;  // when HandleDiskWriteError last logged a warning (real time)
};

}  // namespace respite
