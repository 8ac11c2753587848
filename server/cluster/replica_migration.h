// ReplicaMigration: a primary that has lost all its replicas gets one from the primary with the most replicas
// (cluster-migration-barrier).
#pragma once

#include <cstdint>

#include "server/cluster/cluster_core.h"
#include "server/cluster/my_role.h"

namespace respite {

class ReplicaMigration {  // gives a primary without replicas one of another primary
 public:
  struct Parts {  // what the constructor takes
    const ClusterCore& core;
    MyRole& role;
  };
  explicit ReplicaMigration(const Parts& parts) : parts_(parts) {}

  // Moves this replica to a primary without replicas, if that is its turn (cluster-allow-replica-migration). Called by
  // the timer. Cost: O(nodes).
  void Continue();  // moves this replica, if that is its turn

 private:
  static bool IsOrphaned(const ClusterNode& node);  // a primary with slots that has lost all its replicas
  // Returns whether the primary keeps enough replicas that may replace it.
  bool MayLeave(const ClusterNode& replica, const ClusterNode& primary) const;
  // Returns whether this replica is the one that must move. `max_replicas`: the largest number of working replicas of
  // any primary.
  bool IsMyTurnToMove(int max_replicas) const;

  const Parts parts_;  // from the constructor
};

}  // namespace respite
