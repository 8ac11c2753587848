#include "server/cluster/my_role.h"

#include <algorithm>

namespace respite {

void MyRole::Follow(ClusterNode& primary) {
  ClusterView& view = core_.view;
  ClusterNode& me = view.me();
  // `shares_history`: the data here counts as an earlier state of the history of `primary`. If false, it counts as data
  // of another history (History::Data::kOther): then this node cannot be elected until `primary` has sent +CONTINUE or
  // a snapshot. In both cases, this node may request a partial resynchronisation. There are two conditions:
  // - This node is a replica in the shard of `primary`. (A primary that has lost its slots may have diverged from the
  //   node that took them.)
  // - Its old primary is `primary`, or is unknown, has failed, has lost its slots or has become a replica. (Otherwise
  //   two primaries with the same shard ID have slots, and so different keys.)
  const ClusterNode* const old = me.primary;
  const bool old_has_gone = old == nullptr || old->IsReplica() || old->IsFailing() || old->slot_count == 0;
  const bool shares_history = me.IsReplica() && me.shard == primary.shard && (old_has_gone || old == &primary);
  // The present primary has all data of this node. A new one has the data up to the offset that it reached as a
  // replica; a negative offset says that nothing is known to be shared (History::OffsetInElections).
  const int64_t shared_until = old == &primary ? History::kMaxOffset : std::max<int64_t>(primary.replica_offset, 0);
  if (me.IsPrimary()) {
    view.StopSlotMoves();
    view.DropSlotsOf(me);
  }
  view.MarkAsReplica(me, &primary);
  me.shard = primary.shard;
  view.RequestSave();
  view.RequestHealthCheck();
  if (on_change_) on_change_();
  ConnectToPrimary(shares_history ? std::optional(shared_until) : std::nullopt);
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
