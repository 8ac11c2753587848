// FailureDetector: which nodes are down. A node that does not answer for a node timeout is a suspect (PFAIL). When a
// majority of the primaries reported it as one within two node timeouts, it has failed (FAIL), and everybody is told.
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

  // A primary says that the node fails for it, or that it does not.
  void Report(ClusterNode& node, const ClusterNode& reporter);
  void Withdraw(ClusterNode& node, const ClusterNode& reporter);
  // Of primaries, that are not too old.
  int CountReports(ClusterNode& node);

  // The node has not answered for too long. For the timer.
  void CheckSilence(ClusterNode& node);
  // The node has answered.
  void Answered(ClusterNode& node);
  // FAIL: a majority decided.
  void RecordFailureReport(const NodeId& id, const ClusterNode& reporter);
  int suspects() const { return suspects_; }
  void BeginRound() { suspects_ = 0; }

 private:
  void FailIfMajority(ClusterNode& node);
  void MarkFailed(ClusterNode& node);
  void TakeBack(ClusterNode& node);

  const Parts parts_;
  int suspects_ = 0;  // in this round of the timer
};

}  // namespace respite
