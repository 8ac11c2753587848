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

  // Moves this replica to a primary that has lost its replicas, if it is this replica's turn. Does nothing unless
  // cluster-allow-replica-migration is on. Called by the timer. Cost: O(nodes).
  void Continue();  // if it is this replica's turn: moves it to a primary that lost its replicas

 private:
  static bool IsOrphaned(const ClusterNode& node);  // true: a working primary with slots has lost its working replicas
  // Returns whether the primary, without `replica`, keeps at least cluster-migration-barrier replicas that may replace
  // it.
  bool MayLeave(const ClusterNode& replica, const ClusterNode& primary) const;  // true: `primary` keeps enough replicas
  // Returns whether this replica must move, rather than another one. `max_replicas`: the largest number of working
  // replicas that any primary has.
  bool IsMyTurnToMove(int max_replicas) const;  // true: it is this spare replica that must move

  // Returns whether at least cluster-migration-barrier other replicas of this primary have reported the offset that
  // this replica had at an earlier call, up to 5 s ago, or a larger one. Otherwise those replicas may have no link to
  // the primary, and this replica may be the only one with the last writes.
  bool CheckSiblingsHaveMyData();  // true: this replica may leave; false: call again (the first call notes own_offset_)

  const Parts parts_;              // the arguments of the constructor
  int64_t compared_since_ms_ = 0;  // when own_offset_ was stored, for comparison with siblings (Unix time); 0: not yet
  int64_t own_offset_ = 0;         // replication offset of this replica at compared_since_ms_
};

}  // namespace respite
