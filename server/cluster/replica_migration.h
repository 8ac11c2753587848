// ReplicaMigration: moves a replica to a primary that has no working replica. The replica comes from a primary that has
// the most replicas, and that keeps at least cluster-migration-barrier others.
#pragma once

#include <cstdint>

#include "server/cluster/cluster_core.h"
#include "server/cluster/my_role.h"

namespace respite {

class ReplicaMigration {  // moves a spare replica to a primary that has no working replica
 public:
  struct Parts {  // the arguments of the constructor
    const ClusterCore& core;
    MyRole& role;
  };
  explicit ReplicaMigration(const Parts& parts) : parts_(parts) {}

  // Moves this replica to a primary without replicas, if this replica is the one that must move
  // (cluster-allow-replica-migration). Called by the timer. Cost: O(nodes).
  void Continue();  // called by the timer: moves this replica to a primary without replicas, if it must move

 private:
  static bool IsOrphaned(const ClusterNode& node);  // a primary with slots that has lost its working replicas
  // Returns whether the primary, without `replica`, still has enough replicas that may replace it
  // (cluster-migration-barrier).
  bool MayLeave(const ClusterNode& replica, const ClusterNode& primary) const;  // true: `primary` has enough others
  // Returns whether this replica is the one that must move. `max_replicas`: the largest number of working replicas that
  // any primary has.
  bool IsMyTurnToMove(int max_replicas) const;  // of the spare replicas, this one must move

  const Parts parts_;  // the arguments of the constructor
};

}  // namespace respite
