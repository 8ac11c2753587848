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

  void AddFailureReport(ClusterNode& node, const ClusterNode& reporter);  // records that `reporter` does not reach it
  void WithdrawFailureReport(ClusterNode& node, const ClusterNode& reporter);  // `reporter` reaches the node again
  int CountReports(ClusterNode& node);  // number of recent reports that the node fails; removes old ones

  void MarkPfailIfSilent(ClusterNode& node);     // sets PFAIL if it has not answered for cluster-node-timeout
  void ClearFailureOnAnswer(ClusterNode& node);  // the node has answered: clears PFAIL, and FAIL where possible
  void HandleFailPacket(const NodeId& id, const ClusterNode& reporter);  // marks `id` FAIL, as a majority decided
  int pfail_count() const { return pfail_count_; }  // nodes found PFAIL in the last round of the timer
  void ResetPfailCount() { pfail_count_ = 0; }      // called by the timer before it checks all nodes

 private:
  void MarkFailedIfMajority(ClusterNode& node);  // marks the node FAIL if most primaries report it, and tells all nodes
  void MarkFailed(ClusterNode& node);            // changes PFAIL to FAIL
  void ClearFailFlag(ClusterNode& node);         // the node is not FAIL any more: clears the flag

  const Parts parts_;    // the arguments of the constructor
  int pfail_count_ = 0;  // nodes that were PFAIL in this round of the timer
};

}  // namespace respite
