// Failover: FAILOVER hands the role of the primary over to one of its replicas without losing a write:
//
//   kNone ─► kAwaitsSync: writes are paused until a replica has the whole stream
//         ─► kInProgress: this server follows that replica, and tells it to become the primary (PSYNC … FAILOVER)
//         ─► kNone: the replica became the primary. The paused writes are now answered with READONLY.
//
// The failover is aborted after the timeout, by ABORT, or when the replica refuses to take over. With FORCE it
// continues after the timeout without waiting. If the replica cannot be reached or refuses the password, this server
// retries until the replica agrees or ABORT comes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/clients/role.h"
#include "server/config/settings.h"
#include "server/runtime/env.h"

namespace respite {

class Pace;
class Pause;
class Replicas;
struct History;

struct FailoverRequest {
  std::optional<PrimaryAddress> target;  // empty: the first replica that has the whole stream
  int64_t timeout_ms = 0;                // 0: no timeout
  bool is_forced = false;
};

// Changes the role of the server.
class RoleChanger {
 public:
  virtual ~RoleChanger() = default;
  // Makes this server a replica of `target`, which becomes the primary.
  virtual void HandOver(const PrimaryAddress& target) = 0;
  virtual void Promote() = 0;
};

class Failover {
 public:
  enum class State : uint8_t { kNone, kAwaitsSync, kInProgress };

  struct Parts {
    const Env& env;
    const History& history;
    const Role& role;
    Pause& pause;
    Replicas& replicas;
    RoleChanger& changer;
  };
  explicit Failover(const Parts& parts) : parts_(parts) {}

  // Pauses writes until a replica has the whole stream. Throws Refusal.
  void Start(const FailoverRequest& request);
  void Abort(const std::string& reason);
  // Hands over to a replica as soon as one has the whole stream. Called at the end of a turn and by the timer. Cost:
  // one comparison when no failover runs.
  void Continue() {
    if (state_ == State::kAwaitsSync) LookForTarget();
  }
  // Ends the failover. Called when the new primary has accepted the role.
  void Finished();
  // Called when the new primary has refused the role.
  void Refused();

  State state() const { return state_; }
  Bytes StateName() const;

 private:
  void Check(const FailoverRequest& request) const;
  void LookForTarget();
  void HandOver(const PrimaryAddress& target);
  void Clear();

  const Parts parts_;
  State state_ = State::kNone;
  FailoverRequest request_;
  int64_t deadline_ms_ = 0;  // in Pace time; 0: no timeout
};

}  // namespace respite
