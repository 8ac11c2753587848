// Failover: FAILOVER hands the role of the primary over to one of its replicas without losing a write:
//
//   kNone ─► kAwaitsSync: writes are paused until a replica has the whole stream
//         ─► kInProgress: this server follows that replica, and tells it to become the primary (PSYNC … FAILOVER)
//         ─► kNone: the replica became the primary. The paused writes are now answered with READONLY.
//
// FAILOVER ABORT aborts the failover. The failover is also aborted when the replica refuses PSYNC … FAILOVER, when the
// link is lost before its answer, or when the timeout passes in kAwaitsSync. With FORCE, this server hands over after
// the timeout instead. If the replica cannot be reached or refuses the password, this server retries until the replica
// agrees or ABORT comes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/clients/role.h"
#include "server/config/settings.h"
#include "server/runtime/env.h"

namespace respite {

class RealClock;
class Pause;
class Replicas;
struct History;

struct FailoverRequest {                 // the arguments of FAILOVER
  std::optional<PrimaryAddress> target;  // the replica to promote; empty: the first that has the whole stream
  int64_t timeout_ms = 0;                // how long to wait for the replica; 0: without limit
  bool is_forced = false;  // FORCE: after the timeout, hands over although the target lacks part of the stream
};

class RoleChanger {  // interface that makes this server a primary or a replica
 public:
  virtual ~RoleChanger() = default;
  virtual void HandOver(const PrimaryAddress& target) = 0;  // makes this server a replica of `target`, the new primary
  virtual void Promote() = 0;                               // makes this server a primary again, after an abort
};

class Failover {  // carries out FAILOVER, on the primary that hands its role over
 public:
  // kAwaitsSync: writes are paused until the target has the whole stream. kInProgress: this server follows the target.
  enum class State : uint8_t { kNone, kAwaitsSync, kInProgress };

  struct Parts {  // the arguments of the constructor
    const Env& env;
    const History& history;  // replication ID and offset of this server
    const Role& role;
    Pause& pause;          // pauses the writes of clients
    Replicas& replicas;    // the replicas of this server
    RoleChanger& changer;  // changes the role of this server
  };
  explicit Failover(const Parts& parts) : parts_(parts) {}

  void Start(const FailoverRequest& request);  // begins a failover: pauses writes. Throws Refusal if none can start
  // Ends the failover without success, and logs `reason`. If this server has handed over already, it becomes the
  // primary again. Does nothing if no failover is under way.
  void Abort(const std::string& reason);  // ends the failover without success, and logs `reason`
  // Hands the role of primary over to the target once the target has the whole stream (in kAwaitsSync). If no target
  // was named, the first replica with the whole stream is the target. After the timeout, aborts the failover, or with
  // FORCE hands the role over nevertheless. Called by the timer, and at the end of each event loop turn. Cost: one
  // comparison when no failover runs.
  void Continue() {  // in kAwaitsSync: hands over once the target has the whole stream
    if (state_ == State::kAwaitsSync) LookForTarget();
  }
  void EndIfHandedOver();       // ends a failover in kInProgress, when the target took over, or after Promote
  void HandleFailedTakeover();  // called when the target refuses, or its link is lost: aborts, if in kInProgress

  State state() const { return state_; }  // the step of the failover; kNone: no failover runs
  Bytes StateName() const;                // the step as in INFO: "no-failover", "waiting-for-sync" …

 private:
  void Check(const FailoverRequest& request) const;  // throws Refusal if the failover cannot start
  void LookForTarget();                         // hands over to a replica with the whole stream; checks the timeout
  void HandOver(const PrimaryAddress& target);  // demotes this server to a replica of `target`
  void EndFailover();                           // ends the failover and the pause of writes

  const Parts parts_;           // the arguments of the constructor
  State state_ = State::kNone;  // the step of the failover; kNone: no failover runs
  FailoverRequest request_;     // the arguments of the running failover
  int64_t deadline_ms_ = 0;     // when the timeout passes (real time); 0: no timeout
};

}  // namespace respite
