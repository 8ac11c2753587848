// Failover: FAILOVER hands the role of the primary over to one of its replicas, without losing a write:
//
//   kNone ─► kAwaitsSync: writes are held back until a replica has everything
//         ─► kInProgress: this server follows that replica, and tells it to become the primary (PSYNC … FAILOVER)
//         ─► kNone: it did. The writes that were held back are answered with READONLY now.
//
// It is given up after the timeout (or, with FORCE, goes on without the wait), on ABORT, and when the replica refuses
// to take over. If it cannot be reached, or refuses the password, it is asked again until it agrees or ABORT comes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/clients/role.h"
#include "server/config/settings.h"

namespace respite {

class Logger;
class Pace;
class Pause;
class Replicas;
struct History;

struct FailoverRequest {
  std::optional<PrimaryAddress> target;  // none: the first replica that has everything
  int64_t timeout_ms = 0;                // 0: none
  bool is_forced = false;
};

// Who changes the role of the server.
class RoleChanger {
 public:
  virtual ~RoleChanger() = default;
  // Follows the replica, which becomes the primary.
  virtual void HandOver(const PrimaryAddress& target) = 0;
  virtual void Promote() = 0;
};

class Failover {
 public:
  enum class State : uint8_t { kNone, kAwaitsSync, kInProgress };

  struct Parts {
    const Pace& pace;
    Logger& log;
    const History& history;
    const Role& role;
    Pause& pause;
    Replicas& replicas;
    RoleChanger& changer;
  };
  explicit Failover(const Parts& parts) : parts_(parts) {}

  // Throws Refusal.
  void Start(const FailoverRequest& request);
  void Abort(const std::string& reason);
  // At the end of a Turn, and for the timer. Cost: a compare when there is none.
  void Continue() {
    if (state_ == State::kAwaitsSync) LookForTarget();
  }
  // The new primary answered: it is over.
  void Finished();
  // It refused to.
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
  int64_t deadline_ms_ = 0;  // of the Pace; 0: none
};

}  // namespace respite
