// ManualFailover: CLUSTER FAILOVER and SHUTDOWN FAILOVER make a replica the primary of its shard.
//
// CLUSTER FAILOVER, sent to the replica, loses no write (with FORCE, the primary is not asked, and writes may be lost):
//
//   replica  MFSTART ─────────────►  primary   pauses writes, and reports its offset with the flag "paused"
//   replica  has this data, and requests votes (Election) with the flag "force", although the primary works
//
// SHUTDOWN FAILOVER, sent to the primary: the primary puts a request for a failover into its replication stream, and
// stops. If the replica reads this request late, the primary may have started again and acknowledged writes. So the
// replica first tries to connect to the primary:
//
//   replica  new connection, PING ──►  primary   answers: there is no failover
//                                                is not reached: the replica requests votes, if it has the most data
//
// The failover ends after cluster-manual-failover-timeout in any case, on the primary half a second later.
#pragma once

#include <cstdint>

#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"
#include "server/cluster/gossip.h"

namespace respite {

class ManualFailover {  // handles CLUSTER FAILOVER, on the primary and on the replica
 public:
  struct Parts {  // the arguments of the constructor
    ClusterCore& core;
    Bus& bus;
    Gossip& gossip;  // sends PING to the replica, which reads the primary's offset from it
  };
  explicit ManualFailover(const Parts& parts) : parts_(parts) {}

  // How a failover starts. kAsk: this replica waits until its primary has paused writes. kForce: this replica does not
  // wait, because the primary may be down. kIfPrimaryIsGone: this replica waits until it knows that its primary is
  // down.
  enum class Mode : uint8_t { kAsk, kForce, kIfPrimaryIsGone };
  void Start(Mode mode);                                  // begins a manual failover on this replica
  void ReceivePauseRequest(const ClusterNode& replica);   // handles MFSTART: pauses writes for this node's replica
  void ReceivePrimaryOffset(const PacketHeader& header);  // notes the offset at which this replica's primary has paused
  void ReceivePong(const ClusterNode& sender);            // a PONG of the primary ends a kIfPrimaryIsGone failover
  void Reset();                                           // ends the failover and its pause of writes, on either side
  // Called by the timer. Ends the failover after its timeout. Allows the election (CanStartElection) once this replica
  // has reached the offset at which its primary paused (kAsk), or knows that its primary is gone (kIfPrimaryIsGone).
  void Continue();  // allows the election once this replica has all data; ends the failover after its timeout

  bool IsUnderWay() const { return until_ms_ != 0; }  // a manual failover is under way here
  // Returns true if the failover is of kind kIfPrimaryIsGone (SHUTDOWN FAILOVER of the primary). Such a failover ends
  // if another replica has more data.
  bool IsRequestOfPrimary() const { return is_request_; }  // the primary has requested the failover
  // Returns whether this replica may request and count votes for a manual failover. For CLUSTER FAILOVER without
  // options (kAsk), the replica must be linked to its paused primary and have the whole stream. Returns false after the
  // timeout.
  bool CanStartElection() const;  // true: this replica may request and count votes now
  // Returns whether this primary has paused writes for `replica`. If so, the caller pings `replica`, because a PING
  // tells it the offset of this primary.
  bool IsRequestedBy(const ClusterNode& replica) const {  // this primary has paused writes for `replica`
    return IsUnderWay() && replica.id == replica_;
  }

 private:
  void PauseFor(ClusterNode& replica);  // on the primary: pauses writes, and tells the replica the offset
  bool IsPrimaryGone() const;           // for SHUTDOWN FAILOVER: the link to the primary has ended, or cannot be opened

  const Parts parts_;                 // the arguments of the constructor
  int64_t until_ms_ = 0;              // when the failover is given up (Unix time); 0: none is under way
  bool is_election_allowed_ = false;  // true: this replica may start the election (CanStartElection checks more)
  bool is_request_ = false;           // SHUTDOWN FAILOVER: the primary requested it before it stopped
  int64_t primary_offset_ = -1;       // on a replica: the offset at which its primary paused; -1: not known yet
  NodeId replica_;                    // on a primary: the replica that requested the failover
};

}  // namespace respite
