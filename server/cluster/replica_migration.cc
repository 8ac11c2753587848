#include "server/cluster/replica_migration.h"

#include <algorithm>

namespace respite {

namespace {

constexpr int64_t kOrphanedMs = 5000;  // how long an orphaned primary waits for its own replicas

}  // namespace

bool ReplicaMigration::IsOrphaned(const ClusterNode& node) {
  return node.IsPrimary() && !node.Is(kNodeFail) && node.slot_count != 0 && node.Is(kNodeMigrateTo) &&
         node.WorkingReplicaCount() == 0;
}

// Returns true if at least cluster-migration-barrier other replicas may replace the primary. Replicas with the flag
// "nofailover" do not count. Redis counts them, so in Redis the last replica that may replace its primary can leave.
bool ReplicaMigration::MayLeave(const ClusterNode& replica, const ClusterNode& primary) const {
  return primary.OtherElectableReplicaCount(replica) >= parts_.core.settings.cluster_migration_barrier;
}

// Returns whether this replica must move. All replicas choose the same one: among the spare replicas of primaries with
// `max_replicas` replicas, the one with the smallest id.
bool ReplicaMigration::IsMyTurnToMove(int max_replicas) const {
  const ClusterView& view = parts_.core.view;
  const ClusterNode* candidate = nullptr;
  for (const ClusterNode* node : view.All()) {
    if (!node->IsPrimary() || node->WorkingReplicaCount() != max_replicas) continue;
    for (const ClusterNode* replica : node->replicas) {
      const bool is_spare = !replica->Is(kNodeFail) && MayLeave(*replica, *node);
      if (is_spare && (candidate == nullptr || replica->id < candidate->id)) candidate = replica;
    }
  }
  return candidate == &view.me();
}

// Returns whether at least cluster-migration-barrier other replicas of the same primary have this replica's data.
// Returns false if this replica has no link to its primary: then its data may be newer than the data of all other
// replicas.
bool ReplicaMigration::CheckSiblingsHaveMyData() {
  const ClusterNode& me = parts_.core.view.me();
  const int64_t now_ms = parts_.core.NowMs();
  if (now_ms - compared_since_ms_ > kOrphanedMs) {
    compared_since_ms_ = now_ms;
    own_offset_ = History::PlainOffset(parts_.core.host.Offset());
  }
  const auto count = std::ranges::count_if(me.primary->replicas, [&](const ClusterNode* replica) {
    return replica != &me && replica->offset_at_ms > compared_since_ms_ && replica->offset >= own_offset_;
  });
  return count >= parts_.core.settings.cluster_migration_barrier;
}

void ReplicaMigration::Continue() {
  ClusterView& view = parts_.core.view;
  const int64_t now_ms = parts_.core.NowMs();
  int most = 0;
  ClusterNode* target = nullptr;
  for (ClusterNode* node : view.All()) {
    most = std::max(most, node->IsPrimary() ? node->WorkingReplicaCount() : 0);
    if (!IsOrphaned(*node)) {
      node->orphaned_at_ms = 0;
      continue;
    }
    if (node->orphaned_at_ms == 0) node->orphaned_at_ms = now_ms;
    const bool is_due = now_ms - node->orphaned_at_ms > kOrphanedMs;
    if (is_due && (target == nullptr || node->id < target->id)) target = node;
  }
  const ClusterNode& me = view.me();
  const Settings& settings = parts_.core.settings;
  if (target == nullptr || !view.is_ok || !me.IsReplica() || me.primary == nullptr || most < 2) return;
  const int siblings = me.primary->WorkingReplicaCount();
  if (!settings.cluster_allow_replica_migration || siblings != most) return;
  if (!IsMyTurnToMove(most) || !CheckSiblingsHaveMyData()) return;
  compared_since_ms_ = 0;
  parts_.core.log.Notice("Migrating to orphaned master " + target->id.String());
  parts_.role.Follow(*target);
}

}  // namespace respite
