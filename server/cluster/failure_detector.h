// FailureDetector: decides which nodes are down. A node that does not answer for a node timeout is PFAIL. When a
// majority of the primaries has reported that within two node timeouts, the node is FAIL, and all nodes are told.
#pragma once

#include <cstdint>

#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"

namespace respite {

class FailureDetector {  // decides which nodes are PFAIL or FAIL
 public:
  struct Parts {  // what the constructor takes
    const ClusterCore& core;
    Bus& bus;
  };
  explicit FailureDetector(const Parts& parts) : parts_(parts) {}

  // Records that a primary reports the node as failing, or that it no longer does.
  void AddFailureReport(ClusterNode& node, const ClusterNode& reporter);
  void WithdrawFailureReport(ClusterNode& node, const ClusterNode& reporter);
  int CountReports(ClusterNode& node);  // of primaries; first removes those that are too old

  // Marks the node as PFAIL if it has not answered for too long. Called by the timer.
  void MarkPfailIfSilent(ClusterNode& node);
  void ClearFailureOnAnswer(ClusterNode& node);                          // clears PFAIL, and FAIL where possible
  void HandleFailPacket(const NodeId& id, const ClusterNode& reporter);  // a majority has decided that it failed
  int pfail_count() const { return pfail_count_; }                       // nodes that became PFAIL
  void ResetPfailCount() { pfail_count_ = 0; }  // called by the timer before it checks all nodes

 private:
  void MarkFailedIfMajority(ClusterNode& node);  // of the primaries reports it; then all nodes are told
  void MarkFailed(ClusterNode& node);            // changes PFAIL to FAIL
  void ClearFailFlag(ClusterNode& node);         // the node is not FAIL any more

  const Parts parts_;    // from the constructor
  int pfail_count_ = 0;  // PFAIL nodes in this round of the timer
};

}  // namespace respite
