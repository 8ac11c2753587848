#include "server/cluster/cluster_view.h"

#include <algorithm>

namespace respite {

ClusterView::ClusterView(const NodeId& my_id, const NodeId& my_shard) {
  me_ = &Add(my_id, kNodeMyself | kNodePrimary);
  me_->shard = my_shard;
}

ClusterNode* ClusterView::Find(const NodeId& id) {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : found->second.get();
}

const ClusterNode* ClusterView::Find(const NodeId& id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : found->second.get();
}

ClusterNode& ClusterView::Add(const NodeId& id, uint16_t flags) {
  auto made = std::make_unique<ClusterNode>();
  ClusterNode& node = *made;
  node.id = id;
  node.flags = flags;
  nodes_.emplace(id, std::move(made));
  all_.push_back(&node);
  RecordChange();
  return node;
}

void ClusterView::Remove(ClusterNode& node) {
  DropSlotsOf(node);
  std::erase_if(migrating_, [&](const auto& move) { return move.second == &node; });
  std::erase_if(importing_, [&](const auto& move) { return move.second == &node; });
  LeavePrimary(node);
  for (ClusterNode* replica : node.replicas) replica->primary = nullptr;
  for (ClusterNode* other : all_) {
    std::erase_if(other->reports, [&](const auto& report) { return report.reporter == node.id; });
  }
  std::erase(all_, &node);
  nodes_.erase(node.id);
  RecordChange();
}

void ClusterView::Rename(ClusterNode& node, const NodeId& id) {
  auto handle = nodes_.extract(node.id);
  handle.key() = id;
  node.id = id;
  nodes_.insert(std::move(handle));
  RecordChange();
}

void ClusterView::LeavePrimary(ClusterNode& node) {
  if (node.primary == nullptr) return;
  std::erase(node.primary->replicas, &node);
  if (node.primary->replicas.empty()) node.primary->Clear(kNodeMigrateTo);
  node.primary = nullptr;
}

std::string ClusterView::InternalSecret() const {
  std::string smallest;
  for (const ClusterNode* node : all_) {
    const std::string& secret = node->internal_secret;
    if (!secret.empty() && (smallest.empty() || secret < smallest)) smallest = secret;
  }
  return smallest;
}

void ClusterView::MarkAsPrimary(ClusterNode& node) {
  LeavePrimary(node);
  node.Clear(kNodeReplica);
  node.Set(kNodePrimary);
  RecordChange();
}

void ClusterView::MarkAsReplica(ClusterNode& node, ClusterNode* primary) {
  if (node.primary != primary || primary == nullptr) {
    LeavePrimary(node);
    node.primary = primary;
    if (primary != nullptr) {
      primary->replicas.push_back(&node);
      primary->Set(kNodeMigrateTo);
    }
  }
  node.Clear(kNodePrimary);
  node.Clear(kNodeMigrateTo);
  node.Set(kNodeReplica);
  RecordChange();
}

void ClusterView::Put(Moves& moves, int slot, ClusterNode* node) {
  if (node == nullptr) {
    moves.erase(slot);
  } else {
    moves[slot] = node;
  }
}

void ClusterView::Assign(int slot, ClusterNode* owner) {
  ClusterNode*& place = owners_[static_cast<size_t>(slot)];
  if (place == owner) return;
  if (place != nullptr) {
    --place->slot_count;
    lost_slots_.Add(slot);
  }
  if (owner != nullptr) {
    // Lets a replica of another primary move to a primary that gets its first slots (flag kNodeMigrateTo). If the
    // cluster has replicas, this primary should also have one.
    if (owner->slot_count == 0 && HasReplicas()) owner->Set(kNodeMigrateTo);
    ++owner->slot_count;
  }
  place = owner;
  disclaimed_slots.Remove(slot);
  RecordChange();
}

bool ClusterView::HasReplicas() const {
  return std::ranges::any_of(all_, [](const ClusterNode* node) { return !node->replicas.empty(); });
}

SlotSet ClusterView::SlotsOf(const ClusterNode& node) const {
  SlotSet slots;
  if (node.slot_count == 0) return slots;
  for (int slot = 0; slot < kSlotCount; ++slot) {
    if (Owner(slot) == &node) slots.Add(slot);
  }
  return slots;
}

bool ClusterView::OwnsExactly(const ClusterNode& node, const SlotSet& slots) const {
  if (slots.Count() != node.slot_count) return false;
  bool all = true;
  if (node.slot_count != 0) slots.ForEach([&](int slot) { all = all && Owner(slot) == &node; });
  return all;
}

void ClusterView::DropSlotsOf(ClusterNode& node) {
  for (int slot = 0; slot < kSlotCount && node.slot_count != 0; ++slot) {
    if (Owner(slot) == &node) Assign(slot, nullptr);
  }
}

uint64_t ClusterView::LargestEpoch() const {
  uint64_t largest = current_epoch;
  for (const ClusterNode* node : all_) largest = std::max(largest, node->config_epoch);
  return largest;
}

int ClusterView::Size() const {
  return static_cast<int>(
      std::ranges::count_if(all_, [](const ClusterNode* node) { return node->IsPrimary() && node->slot_count != 0; }));
}

}  // namespace respite
