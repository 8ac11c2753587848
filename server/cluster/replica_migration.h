// ReplicaMigration: a primary that has lost all its replicas gets one of a primary that has more of them than the
// others (cluster-migration-barrier).
#pragma once

#include <cstdint>

#include "server/cluster/cluster_core.h"
#include "server/cluster/my_role.h"

namespace respite {

class ReplicaMigration {
 public:
  struct Parts {
    const ClusterCore& core;
    MyRole& role;
  };
  explicit ReplicaMigration(const Parts& parts) : parts_(parts) {}

  // For the timer. Cost: O(nodes).
  void Continue();

 private:
  static bool IsOrphaned(const ClusterNode& node);
  // This node is the one that should go. `most`: the largest number of replicas of a primary.
  bool IsMyTurn(int most) const;

  const Parts parts_;
};

}  // namespace respite
