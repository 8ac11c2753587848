#include "server/cluster/my_role.h"

namespace respite {

void MyRole::Follow(ClusterNode& primary) {
  ClusterView& view = core_.view;
  ClusterNode& me = view.me();
  // `is_sibling`: this node may keep its data and ask for a partial resynchronisation. For this, it must be a replica
  // in the shard of `primary`, because a primary that has lost its slots may have diverged from the node that took
  // them. Also, its old primary must be `primary`, or must have failed, lost its slots or become a replica. Otherwise
  // two primaries with the same shard ID have slots, and so different keys.
  const ClusterNode* const old = me.primary;
  const bool old_has_gone = old == nullptr || old->IsReplica() || old->IsFailing() || old->slot_count == 0;
  const bool is_sibling = me.IsReplica() && me.shard == primary.shard && (old_has_gone || old == &primary);
  // The primary that this node already replicates has all data of this node. Another primary has the data up to the
  // offset that it had reached as a replica.
  const int64_t shared_until = old == &primary ? History::kMaxOffset : primary.replica_offset;
  if (me.IsPrimary()) {
    view.StopSlotMoves();
    view.DropSlotsOf(me);
  }
  view.MarkAsReplica(me, &primary);
  me.shard = primary.shard;
  view.RequestSave();
  view.RequestHealthCheck();
  if (on_change_) on_change_();
  ConnectToPrimary(is_sibling ? std::optional(shared_until) : std::nullopt);
}

// Connects to the new primary. If the address of the new primary is not known, stops following the former primary.
// Otherwise the former primary would send data to this node, which counts as a replica with all data of the new
// primary.
void MyRole::ConnectToPrimary(std::optional<int64_t> shared_until) {
  const ClusterNode& primary = *core_.view.me().primary;
  if (!primary.HasAddress()) return core_.host.Follow("", 0, shared_until);
  const NodeAddress& address = primary.address;
  core_.host.Follow(address.ip, core_.settings.tls_replication ? address.tls_port : address.tcp_port, shared_until);
}

void MyRole::Promote() {
  ClusterView& view = core_.view;
  if (view.me().IsPrimary()) return;
  view.MarkAsPrimary(view.me());
  view.RequestSave();
  view.RequestHealthCheck();
  core_.host.Promote();
  if (on_change_) on_change_();
}

}  // namespace respite
