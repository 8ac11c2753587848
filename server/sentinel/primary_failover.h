// PrimaryFailover: replaces a primary by one of its replicas, step by step:
//
//   wait_start ─► select_slave ─► send_slaveof_noone ─► wait_promotion ─► reconf_slaves ─► update_config
//   (election)     (the best)                            (by INFO)         (the others)     (+switch-master)
//
// From the end of wait_promotion on, clients and other Sentinels are told of the new primary.
#pragma once

#include "server/sentinel/down_watch.h"
#include "server/sentinel/hello_protocol.h"
#include "server/sentinel/instance_list.h"
#include "server/sentinel/leader_election.h"
#include "server/sentinel/replicaof_sender.h"
#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class PrimaryFailover {
 public:
  struct Parts {
    const SentinelCore& core;
    SentinelEvents& events;
    InstanceList& list;
    ReplicaofSender& orders;
    HelloProtocol& hellos;
    DownWatch& downs;
    LeaderElection& election;
  };
  explicit PrimaryFailover(const Parts& parts) : parts_(parts), core_(parts.core) {}

  // Called by the timer: starts a failover if the primary is down, unless the last one was a short time ago.
  void StartIfNeeded(Primary& primary);
  void Continue(Primary& primary);
  // Starts a failover for an operator, without votes. Requires: none is under way, and there is a replica to promote.
  void Force(Primary& primary);
  // Continues the failover with the other replicas. Called when the promoted replica reports to be a primary.
  void OnPromoted(WatchedReplica& replica);
  // Returns the replica to promote; null if none is suitable.
  WatchedReplica* Select(const Primary& primary) const;
  // Performs the last step, which replaces the replicas and links of the primary.
  void SwitchToPromoted(Primary& primary);

 private:
  void Start(Primary& primary);
  void LogDelay(Primary& primary) const;
  void Enter(Primary& primary, FailoverState state) const;
  void WaitForElection(Primary& primary);
  // Returns whether all reachable replicas have reported how much data they have since the failover began.
  bool KnowsReplicas(const Primary& primary) const;
  void Promote(Primary& primary);
  void SendReplicaofNoOne(Primary& primary);
  void AbortIfLate(Primary& primary);
  void Abort(Primary& primary) const;
  void ReconfigureReplicas(Primary& primary);
  void Reconfigure(WatchedReplica& replica);
  void EndIfDone(Primary& primary);
  void ReconfigureRest(Primary& primary);
  int64_t ElapsedMs(const Primary& primary) const { return core_.NowMs() - primary.failover_state_ms; }
  bool IsFit(const Primary& primary, const WatchedReplica& replica) const;

  const Parts parts_;
  const SentinelCore core_;
};

}  // namespace respite
