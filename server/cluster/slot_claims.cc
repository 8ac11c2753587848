#include "server/cluster/slot_claims.h"

#include <vector>

#include "base/str_cat.h"

namespace respite {

void SlotClaims::ApplyClaims(ClusterNode& sender, const PacketHeader& header) {
  ClusterView& view = parts_.core.view;
  ClusterNode& primary = view.PrimaryOf(sender);
  if (primary.IsPrimary() && !view.OwnsExactly(primary, header.slots)) {
    if (sender.IsPrimary()) AssignClaimedSlots(sender, header.config_epoch, header.slots);
    SendUpdateIfOutdated(sender, header);
  }
  if (sender.IsPrimary() && view.me().IsPrimary() && header.config_epoch == view.me().config_epoch) {
    ResolveEpochCollision(sender);
  }
}

bool SlotClaims::OwnerLosesSlot(int slot, const ClusterNode& claimant, uint64_t epoch) const {
  const ClusterView& view = parts_.core.view;
  const ClusterNode* owner = view.Owner(slot);
  if (owner == &claimant) return false;
  // Only nodes in the shard of the source may take a slot while this node imports it (CLUSTER SETSLOT IMPORTING). One
  // of them may have replaced the source after a failover.
  const ClusterNode* source = view.ImportingFrom(slot);
  if (source != nullptr && source->shard != claimant.shard) return false;
  return owner == nullptr || view.disclaimed_slots.Has(slot) || owner->config_epoch < epoch;
}

void SlotClaims::UpdateDisclaimedSlots(const ClusterNode& claimant, const SlotSet& claimed) {
  ClusterView& view = parts_.core.view;
  view.SlotsOf(claimant).ForEach([&](int slot) {
    if (claimed.Has(slot)) {
      view.disclaimed_slots.Remove(slot);
    } else {
      view.disclaimed_slots.Add(slot);
    }
  });
}

void SlotClaims::AssignClaimedSlots(ClusterNode& claimant, uint64_t epoch, const SlotSet& claimed) {
  ClusterView& view = parts_.core.view;
  ClusterNode& me = view.me();
  if (&claimant == &me) return parts_.core.log.Notice("Discarding UPDATE message about myself.");
  ClusterNode& my_primary = view.PrimaryOf(me);
  int lost = 0;
  std::vector<int> with_keys;
  claimed.ForEach([&](int slot) {
    if (!OwnerLosesSlot(slot, claimant, epoch)) return;
    const ClusterNode* owner = view.Owner(slot);
    if (owner == &me && parts_.core.host.HasKeysInSlot(slot)) with_keys.push_back(slot);
    if (owner == &my_primary) ++lost;
    view.Assign(slot, &claimant);
    if (view.ImportingFrom(slot) != nullptr) view.SetImporting(slot, &claimant);
    view.RequestSave();
    view.RequestHealthCheck();
  });
  UpdateDisclaimedSlots(claimant, claimed);
  // Makes this node a replica of `claimant` if `claimant` has taken the last slot of this node's primary (or of this
  // node, if it is a primary). So a failed primary that returns becomes a replica in its shard. Without
  // cluster-allow-replica-migration, this happens only if `claimant` has no other slots, because it has then replaced
  // the primary.
  const bool may_move = parts_.core.settings.cluster_allow_replica_migration || lost == claimant.slot_count;
  if (lost != 0 && my_primary.slot_count == 0 && may_move) {
    parts_.core.log.Notice("Configuration change detected. Reconfiguring myself as a replica of " + claimant.LogName());
    return parts_.role.Follow(claimant);
  }
  for (const int slot : with_keys) parts_.core.host.DeleteKeysInSlot(slot, parts_.core.view);
}

void SlotClaims::SendUpdateIfOutdated(ClusterNode& sender, const PacketHeader& header) {
  const ClusterView& view = parts_.core.view;
  const ClusterNode* winner = nullptr;
  header.slots.ForEach([&](int slot) {
    const ClusterNode* owner = view.Owner(slot);
    if (winner != nullptr || owner == nullptr || owner == &sender || view.disclaimed_slots.Has(slot)) return;
    if (owner->config_epoch > header.config_epoch) winner = owner;
  });
  if (winner == nullptr) return;
  parts_.core.log.Verbose("Node " + sender.LogName() +
                          " has old slots configuration, sending an UPDATE message about " + winner->LogName());
  BusPacket packet;
  packet.header = parts_.bus.MakeHeader(PacketType::kUpdate);
  packet.body = UpdateBody{winner->config_epoch, winner->id, view.SlotsOf(*winner)};
  parts_.bus.Send(sender, packet);
}

void SlotClaims::ApplyUpdate(const UpdateBody& update) {
  ClusterNode* node = parts_.core.view.Find(update.id);
  if (node == nullptr || node->config_epoch >= update.config_epoch) return;
  if (node->IsReplica() && !node->IsMyself()) parts_.core.view.MarkAsPrimary(*node);
  if (!node->IsMyself()) node->config_epoch = update.config_epoch;
  ClusterHost& host = parts_.core.host;
  if (node == parts_.core.view.me().primary && !host.IsLinked()) host.HandleNewEpochOfPrimary();
  parts_.core.view.RequestSave();
  AssignClaimedSlots(*node, update.config_epoch, update.slots);
}

// Called if another primary has the same epoch as this one. The primary with the smaller id takes a new epoch.
void SlotClaims::ResolveEpochCollision(const ClusterNode& sender) {
  ClusterView& view = parts_.core.view;
  if (sender.id <= view.me().id) return;
  ++view.current_epoch;
  view.me().config_epoch = view.current_epoch;
  view.RequestSave(ClusterView::Save::kNow);
  parts_.core.log.Verbose(StrCat("WARNING: configEpoch collision with node ", sender.id.String(),
                                 ". configEpoch set to ", view.current_epoch));
}

bool SlotClaims::BumpEpoch() {
  ClusterView& view = parts_.core.view;
  const uint64_t largest = view.LargestEpoch();
  if (view.me().config_epoch != 0 && view.me().config_epoch == largest) return false;
  view.current_epoch = largest + 1;
  view.me().config_epoch = view.current_epoch;
  view.RecordChange();
  view.RequestSave(ClusterView::Save::kNow);
  parts_.core.log.Notice(StrCat("New configEpoch set to ", view.current_epoch));
  return true;
}

}  // namespace respite
