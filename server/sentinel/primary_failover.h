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

class PrimaryFailover {  // replaces a primary by one of its replicas, step by step
 public:
  struct Parts {  // the arguments of the constructor
    const SentinelCore& core;
    SentinelEvents& events;  // reports events in the log, on channels and to scripts
    InstanceList& list;
    ReplicaofSender& replicaof_sender;  // sends REPLICAOF
    HelloProtocol& hello_protocol;      // tells other Sentinels the new address
    DownWatch& down_watch;              // decides which instances are down
    LeaderElection& election;           // decides by votes which Sentinel carries out the failover
  };
  explicit PrimaryFailover(const Parts& parts) : parts_(parts), core_(parts.core) {}

  void StartIfNeeded(Primary& primary);  // starts a failover if odown, not within 2 * failover-timeout of the last
  void Continue(Primary& primary);       // takes the next step, if a failover is under way
  // Starts a failover for an operator, without votes. Requires: no failover is under way, and a replica can be
  // promoted.
  void ForceFailover(Primary& primary);  // SENTINEL FAILOVER: starts a failover without votes
  // Announces the new primary to clients and Sentinels. The step of the failover after this one makes the other
  // replicas follow the new primary.
  void HandlePromotion(WatchedReplica& replica);  // called when the promoted replica reports to be a primary
  // Returns the best replica to promote, or null if none is suitable. Prefers replicas that follow this primary as far
  // as this Sentinel can tell (MayFollow), then a lower priority, then a larger replication offset, then a smaller run
  // id.
  WatchedReplica* FindBestReplica(const Primary& primary) const;  // best replica to promote; null: none is suitable
  void SwitchToPromoted(Primary& primary);  // last step: from now on, the promoted replica is the watched primary

 private:
  void Start(Primary& primary);                             // begins a failover in a new epoch; requests no votes yet
  void LogFailoverDelay(Primary& primary) const;            // logs once when the next failover may start
  void Enter(Primary& primary, FailoverState state) const;  // sets the step of the failover, and its time
  void WaitForElection(Primary& primary);                  // step 1: continues if elected, or if the failover is forced
  bool HasFreshReplicaInfo(const Primary& primary) const;  // true: all reachable replicas sent INFO in this failover
  void ChooseReplicaToPromote(Primary& primary);  // chooses the best replica, when INFO is fresh; aborts if none fits
  void SendReplicaofNoOne(Primary& primary);      // sends REPLICAOF NO ONE to the chosen replica, once connected
  void AbortIfTimedOut(Primary& primary);  // aborts if the failover is in this state for longer than failover-timeout
  void Abort(Primary& primary) const;      // ends the failover: the primary keeps its role
  void ReconfigureReplicas(Primary& primary);  // sends REPLICAOF to the remaining replicas, parallel-syncs at a time
  void Reconfigure(WatchedReplica& replica);   // sends REPLICAOF with the new primary, if not yet sent
  void EndFailoverIfDone(Primary& primary);  // ends the failover if all replicas that are up follow, or after a timeout
  // Called when the failover times out: sends REPLICAOF to all replicas that do not follow the new primary yet.
  void ReconfigureRemainingReplicas(Primary& primary);   // sends REPLICAOF to replicas that do not follow yet
  int64_t TimeInStateMs(const Primary& primary) const {  // for how long the failover has been in its state
    return core_.NowMs() - primary.failover_state_ms;
  }
  // Returns whether the replica is up, has answered PING and INFO lately, has a priority other than 0, and has not been
  // without its primary for too long.
  bool CanBePromoted(const Primary& primary, const WatchedReplica& replica) const;  // true: suitable for promotion
  bool MayFollow(const Primary& primary,  // false: the replica follows another server, or none
                 const WatchedReplica& replica) const;

  const Parts parts_;  // the arguments of the constructor
  const SentinelCore core_;
};

}  // namespace respite
