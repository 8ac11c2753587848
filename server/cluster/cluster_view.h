// ClusterView: this node's knowledge of its cluster: the nodes, the owners of slots, the epochs. It only keeps related
// fields consistent; its callers decide what is true.
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
  // Makes a cluster of one node: a primary without slots.
  explicit ClusterView(const NodeId& my_id, const NodeId& my_shard);
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  ClusterNode& me() { return *me_; }
  const ClusterNode& me() const { return *me_; }

  // --- Nodes.

  ClusterNode* Find(const NodeId& id);
  const ClusterNode* Find(const NodeId& id) const;
  // Requires: no node has this id.
  ClusterNode& Add(const NodeId& id, uint16_t flags);
  // Removes the node: its slots have no owner then, and its replicas no primary. Requires: not this node. Cost:
  // O(nodes + slots).
  void Remove(ClusterNode& node);
  // Requires: no node has the new id.
  void Rename(ClusterNode& node, const NodeId& id);
  // Returns the nodes, sorted by id.
  const std::map<NodeId, std::unique_ptr<ClusterNode>>& nodes() const { return nodes_; }
  // Returns the nodes without order, for a random choice.
  const std::vector<ClusterNode*>& All() const { return all_; }
  void BecomePrimary(ClusterNode& node);
  void BecomeReplica(ClusterNode& node, ClusterNode* primary);
  // Returns the primary of the shard: the node itself, or its primary if that is known.
  ClusterNode& PrimaryOf(ClusterNode& node) { return node.primary == nullptr ? node : *node.primary; }
  // Returns the number of nodes, including this node and nodes in handshake.
  size_t KnownNodes() const { return nodes_.size(); }

  // --- Slots.

  ClusterNode* Owner(int slot) const { return owners_[static_cast<size_t>(slot)]; }
  // Sets the owner of a slot; null means no owner.
  void Assign(int slot, ClusterNode* owner);
  // Returns the slots that any owner has lost since the last call.
  SlotSet TakeLostSlots() { return std::exchange(lost_, {}); }
  SlotSet SlotsOf(const ClusterNode& node) const;
  // Returns whether the node owns these slots and no others. Cost: O(slots of the set); at most O(slots / 64) when the
  // counts differ.
  bool OwnsExactly(const ClusterNode& node, const SlotSet& slots) const;
  void DropSlotsOf(ClusterNode& node);
  // Slots that migrate to another node, or that are imported from one. A null node removes the entry.
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
  // Slots that their owner no longer claims, so any node may claim them.
  SlotSet disclaimed;

  // --- Epochs.

  uint64_t current_epoch = 0;
  uint64_t last_vote_epoch = 0;
  // Returns the largest epoch that any node has shown.
  uint64_t LargestEpoch() const;

  // --- Derived state.

  bool is_ok = false;      // this node serves requests
  bool is_paused = false;  // writes are paused for a manual failover
  // Returns the number of primaries with slots.
  int Size() const;
  int Majority() const { return Size() / 2 + 1; }

  // --- Changes since the last Take… call.

  enum class Save : uint8_t { kNo, kLater, kNow };  // kNow: before any node is told of the change
  void WantSave(Save how = Save::kLater) { save_ = std::max(save_, how); }
  Save TakeSave() { return std::exchange(save_, Save::kNo); }
  void WantCheck() { wants_check_ = true; }
  bool TakeCheck() { return std::exchange(wants_check_, false); }
  // Counts the changes of everything that clients can learn about slots and nodes.
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
