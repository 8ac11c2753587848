// FailureDetector: decides which nodes are down. A node that does not answer this node for a node timeout is PFAIL
// here. The node becomes FAIL if, in addition, enough primaries (this node counts if it is one) have reported it within
// two node timeouts: more than half the number of primaries with slots. This node then tells all nodes.
#pragma once

#include <cstdint>

#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"

namespace respite {

class FailureDetector {  // decides which nodes are PFAIL or FAIL
 public:
  struct Parts {  // the arguments of the constructor
    const ClusterCore& core;
    Bus& bus;
  };
  explicit FailureDetector(const Parts& parts) : parts_(parts) {}

  void AddFailureReport(ClusterNode& node,  // `reporter` says that `node` is down; a majority makes it FAIL
                        const ClusterNode& reporter);
  void WithdrawFailureReport(ClusterNode& node,  // removes the report of `reporter`, which reaches the node again
                             const ClusterNode& reporter);
  int CountFreshReports(ClusterNode& node);  // removes old reports that the node is down; returns how many are left

  void MarkPfailIfSilent(ClusterNode& node);  // sets PFAIL after a node timeout without answer; counts PFAIL nodes
  // Called when the node has answered a PING. Clears PFAIL and FAIL. But FAIL of a primary with slots is cleared only
  // two node timeouts after it failed, because a replica may be replacing it.
  void ClearFailureOnAnswer(ClusterNode& node);  // clears PFAIL; FAIL of a primary with slots only later
  void HandleFailPacket(const NodeId& id, const ClusterNode& reporter);  // handles a FAIL packet: marks node `id` FAIL
  int pfail_count() const { return pfail_count_; }  // how many nodes the last round of the timer found PFAIL
  void ResetPfailCount() { pfail_count_ = 0; }      // sets pfail_count to 0, at the start of a round

 private:
  void MarkFailedIfMajority(ClusterNode& node);  // sets FAIL if PFAIL here and for most primaries; tells all nodes
  void MarkFailed(ClusterNode& node);            // records that the node is FAIL, and no longer PFAIL
  void ClearFailFlag(ClusterNode& node);         // clears FAIL, because the node is reachable again

  const Parts parts_;    // the arguments of the constructor
  int pfail_count_ = 0;  // how many nodes this round of the timer has found PFAIL
};

}  // namespace respite
