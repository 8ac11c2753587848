// FailureDetector: decides which nodes are down. A node that does not answer for a node timeout is PFAIL. When a
// majority of the primaries has reported that within two node timeouts, the node is FAIL, and all nodes are told.
#pragma once

#include <cstdint>

#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"

namespace respite {

class FailureDetector {
 public:
  struct Parts {
    const ClusterCore& core;
    Bus& bus;
  };
  explicit FailureDetector(const Parts& parts) : parts_(parts) {}

  // Records that a primary reports the node as failing, or that it no longer does.
  void Report(ClusterNode& node, const ClusterNode& reporter);
  void Withdraw(ClusterNode& node, const ClusterNode& reporter);
  // Counts the reports of primaries, after removing those that are too old.
  int CountReports(ClusterNode& node);

  // Marks the node as PFAIL if it has not answered for too long. Called by the timer.
  void CheckSilence(ClusterNode& node);
  // Clears PFAIL, and FAIL where possible. Called when the node has answered.
  void Answered(ClusterNode& node);
  // Handles a FAIL packet: a majority has decided that the node failed.
  void RecordFailureReport(const NodeId& id, const ClusterNode& reporter);
  int suspects() const { return suspects_; }
  void BeginRound() { suspects_ = 0; }

 private:
  void FailIfMajority(ClusterNode& node);
  void MarkFailed(ClusterNode& node);
  void TakeBack(ClusterNode& node);

  const Parts parts_;
  int suspects_ = 0;  // PFAIL nodes in this round of the timer
};

}  // namespace respite
