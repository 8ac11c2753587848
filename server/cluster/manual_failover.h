// ManualFailover: CLUSTER FAILOVER, sent to a replica, makes it the primary without losing a write:
//
//   replica  MFSTART ─────────────►  primary   holds writes back, and says its offset with the flag "paused"
//   replica  has all up to there: asks for votes (Election), which the flag "force" gets though the primary works
//
// It is over after cluster-manual-failover-timeout, whatever has become of it.
#pragma once

#include <cstdint>

#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"
#include "server/cluster/gossip.h"

namespace respite {

class ManualFailover {
 public:
  struct Parts {
    ClusterCore& core;
    Bus& bus;
    Gossip& gossip;
  };
  explicit ManualFailover(const Parts& parts) : parts_(parts) {}

  // On a replica. kAsk: waits for the primary to hold writes back; kForce: it may be down.
  enum class Mode : uint8_t { kAsk, kForce };
  void Start(Mode mode);
  // MFSTART of one of our replicas.
  void ReceiveRequest(ClusterNode& replica);
  // The header of any packet of our primary.
  void ReceivePrimaryOffset(const PacketHeader& header);
  void Reset();
  // For the timer and the ends of Turns.
  void Continue();

  bool IsUnderWay() const { return until_ms_ != 0; }
  // The replica has everything, or need not.
  bool CanStart() const { return IsUnderWay() && can_start_; }
  // This primary waits for that replica, which should hear of the offset soon.
  bool IsFor(const ClusterNode& replica) const { return IsUnderWay() && replica.id == replica_; }

 private:
  const Parts parts_;
  int64_t until_ms_ = 0;  // 0: none
  bool can_start_ = false;
  int64_t primary_offset_ = -1;  // of a replica: where its primary has stopped; -1: not known yet
  NodeId replica_;               // of a primary: for whom
};

}  // namespace respite
