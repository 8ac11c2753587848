// FailureDetector: decides which nodes are down. A node that does not answer for a node timeout is PFAIL. When a
// majority of the primaries has reported that within two node timeouts, the node is FAIL, and all nodes are told.
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

  void AddFailureReport(ClusterNode& node, const ClusterNode& reporter);       // `reporter` does not reach the node
  void WithdrawFailureReport(ClusterNode& node, const ClusterNode& reporter);  // `reporter` reaches the node again
  int CountReports(ClusterNode& node);  // number of recent reports that the node is down; removes expired reports

  void MarkPfailIfSilent(ClusterNode& node);     // sets PFAIL if the node has not answered for cluster-node-timeout
  void ClearFailureOnAnswer(ClusterNode& node);  // clears PFAIL; also FAIL, unless a replica may have replaced it
  void HandleFailPacket(const NodeId& id, const ClusterNode& reporter);  // marks the node FAIL
  int pfail_count() const { return pfail_count_; }  // nodes found PFAIL in the last round of the timer
  void ResetPfailCount() { pfail_count_ = 0; }      // called by the timer before it checks all nodes

 private:
  void MarkFailedIfMajority(ClusterNode& node);  // marks the node FAIL if most primaries report it, and tells all nodes
  void MarkFailed(ClusterNode& node);            // sets FAIL, and clears PFAIL
  void ClearFailFlag(ClusterNode& node);         // clears FAIL, because the node is reachable again

  const Parts parts_;    // the arguments of the constructor
  int pfail_count_ = 0;  // nodes that were PFAIL in this round of the timer
};

}  // namespace respite
