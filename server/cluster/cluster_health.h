// ClusterHealth: decides whether this node serves requests (cluster_state is ok). The node must reach a majority of the
// primaries with slots. With cluster-require-full-coverage, each slot must also have an owner that works.
#pragma once

#include <cstdint>

#include "server/cluster/cluster_core.h"

namespace respite {

class ClusterHealth {  // decides cluster_state: whether this node serves requests
 public:
  explicit ClusterHealth(ClusterCore& core) : core_(core), born_ms_(core.NowMs()) {}

  // Called after changes of nodes or slots, and at each tick while cluster_state is fail. Cost: O(nodes + slots).
  void UpdateClusterState();  // decides cluster_state again, and stores the result in ClusterView::is_ok
  // Lets a primary serve requests immediately after its start. Without this call, it first refuses them for two seconds
  // (kRefusalAfterStartMs), the time to learn whether other nodes have taken its slots. Must be called only if the
  // nodes.conf files of all nodes agree (ClusterStartPlan).
  void TrustNodesFile() { is_nodes_file_trusted_ = true; }  // lets a primary serve requests from the start

 private:
  bool HasFullCoverage() const;  // true: each slot has an owner that is not FAIL (cluster-require-full-coverage)
  bool HasMajority() const;      // true: this node reaches a majority of the primaries with slots

  ClusterCore& core_;
  const int64_t born_ms_;               // when this node started (Unix time)
  int64_t in_minority_at_ms_ = 0;       // when this node last lacked a majority (Unix time)
  bool is_nodes_file_trusted_ = false;  // true: a primary may serve requests from the start
};

}  // namespace respite
