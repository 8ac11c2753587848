// ClusterView: what this node believes of its cluster: the nodes, who owns which slot, the epochs. It only keeps what
// belongs together consistent; what to believe is decided by those who change it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/slot_set.h"
#include "server/cluster/cluster_node.h"

namespace respite {

class ClusterView {
 public:
  // A cluster of one: a primary without slots.
  explicit ClusterView(const NodeId& my_id, const NodeId& my_shard);
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  ClusterNode& me() { return *me_; }
  const ClusterNode& me() const { return *me_; }

  // --- Nodes.

  ClusterNode* Find(const NodeId& id);
  const ClusterNode* Find(const NodeId& id) const { return const_cast<ClusterView*>(this)->Find(id); }
  // Requires: nobody has this id.
  ClusterNode& Add(const NodeId& id, uint16_t flags);
  // Its slots have no owner afterwards, its replicas no primary. Requires: not myself. Cost: O(nodes + slots).
  void Remove(ClusterNode& node);
  // Requires: nobody has the new id.
  void Rename(ClusterNode& node, const NodeId& id);
  // By id.
  const std::map<NodeId, std::unique_ptr<ClusterNode>>& nodes() const { return nodes_; }
  // In no order, for drawing one.
  const std::vector<ClusterNode*>& All() const { return all_; }
  void BecomePrimary(ClusterNode& node);
  void BecomeReplica(ClusterNode& node, ClusterNode* primary);
  // The primary of the shard: the node itself, or its primary if we know it.
  ClusterNode& PrimaryOf(ClusterNode& node) { return node.primary == nullptr ? node : *node.primary; }
  // Nodes that are there but for those that only shook hands.
  size_t KnownNodes() const { return nodes_.size(); }

  // --- Slots.

  ClusterNode* Owner(int slot) const { return owners_[static_cast<size_t>(slot)]; }
  // Null: nobody.
  void Assign(int slot, ClusterNode* owner);
  // The slots that an owner has lost since the last call.
  SlotSet TakeLostSlots() { return std::exchange(lost_, {}); }
  SlotSet SlotsOf(const ClusterNode& node) const;
  // Cost: O(slots of the set); at most O(slots / 64) when the counts differ.
  bool OwnsExactly(const ClusterNode& node, const SlotSet& slots) const;
  void DropSlotsOf(ClusterNode& node);
  // Slots that are on their way to another node, or from there. Null: none.
  using Moves = std::map<int, ClusterNode*>;
  const Moves& migrating() const { return migrating_; }
  const Moves& importing() const { return importing_; }
  ClusterNode* MigratingTo(int slot) const { return At(migrating_, slot); }
  ClusterNode* ImportingFrom(int slot) const { return At(importing_, slot); }
  void SetMigrating(int slot, ClusterNode* target) { Put(migrating_, slot, target); }
  void SetImporting(int slot, ClusterNode* source) { Put(importing_, slot, source); }
  bool HasMoves() const { return !migrating_.empty() || !importing_.empty(); }
  void StopMoves() {
    migrating_.clear();
    importing_.clear();
  }
  // Its owner has stopped to claim the slot, so anybody may.
  SlotSet disclaimed;

  // --- Epochs.

  uint64_t current_epoch = 0;
  uint64_t last_vote_epoch = 0;
  // The largest that anybody has shown.
  uint64_t LargestEpoch() const;

  // --- What it adds up to.

  bool is_ok = false;      // requests are served
  bool is_paused = false;  // writes are held back for a manual failover
  // Primaries with slots.
  int Size() const;
  int Majority() const { return Size() / 2 + 1; }

  // --- What has changed since somebody looked.

  enum class Save : uint8_t { kNo, kLater, kNow };  // kNow: before anybody is told of it
  void WantSave(Save how = Save::kLater) { save_ = std::max(save_, how); }
  Save TakeSave() { return std::exchange(save_, Save::kNo); }
  void WantCheck() { wants_check_ = true; }
  bool TakeCheck() { return std::exchange(wants_check_, false); }
  // Of anything that clients are told of slots and nodes.
  uint64_t version() const { return version_; }
  void Changed() { ++version_; }

 private:
  static ClusterNode* At(const Moves& moves, int slot) {
    const auto found = moves.find(slot);
    return found == moves.end() ? nullptr : found->second;
  }
  static void Put(Moves& moves, int slot, ClusterNode* node);
  void LeavePrimary(ClusterNode& node);
  bool HasReplicas() const;

  std::map<NodeId, std::unique_ptr<ClusterNode>> nodes_;
  std::vector<ClusterNode*> all_;
  ClusterNode* me_;
  std::array<ClusterNode*, kSlotCount> owners_{};
  SlotSet lost_;
  Moves migrating_;
  Moves importing_;
  Save save_ = Save::kNo;
  bool wants_check_ = false;
  uint64_t version_ = 0;
};

}  // namespace respite
