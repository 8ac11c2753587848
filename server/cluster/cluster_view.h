// ClusterView: this node's knowledge of its cluster: the nodes, the owners of slots, the epochs. ClusterView only keeps
// related fields consistent; its callers decide what is true.
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

class ClusterView {  // what this node knows of its cluster: nodes, slot owners and epochs
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
  // Adds a node. Requires: no node has this id yet.
  ClusterNode& Add(const NodeId& id, uint16_t flags);
  // Removes the node. Its slots then have no owner, and its replicas no primary. Requires: `node` is not me(). Cost:
  // O(nodes + slots).
  void Remove(ClusterNode& node);                    // removes the node from the view; its slots have no owner then
  void Rename(ClusterNode& node, const NodeId& id);  // gives the node another id, which no node has yet
  const std::map<NodeId, std::unique_ptr<ClusterNode>>& nodes() const {  // all nodes that this node knows, by id
    return nodes_;
  }
  // Returns all nodes, including this one, in no order: for loops, and for a random choice.
  const std::vector<ClusterNode*>& All() const { return all_; }
  void MarkAsPrimary(ClusterNode& node);  // records that the node is a primary
  void MarkAsReplica(ClusterNode& node,   // records that the node is a replica of `primary` (null: not known)
                     ClusterNode* primary);
  ClusterNode& PrimaryOf(ClusterNode& node) {  // a replica's primary, if it is known; otherwise `node` itself
    return node.primary == nullptr ? node : *node.primary;
  }
  size_t KnownNodeCount() const { return nodes_.size(); }  // number of nodes, with this one and those in handshake

  // Returns the secret with which Redis' nodes log in to each other: the smallest of the secrets that they announce.
  // Soon they all announce that one. Empty if no node has announced one. Cost: O(nodes).
  std::string InternalSecret() const;  // the secret with which Redis' nodes log in; empty: there is none

  // --- Slots.

  ClusterNode* Owner(int slot) const { return owners_[static_cast<size_t>(slot)]; }  // null: no owner
  void Assign(int slot, ClusterNode* owner);  // records that `owner` owns the slot; null: no node does
  SlotSet TakeLostSlots() {  // the slots that any node has lost since the last call, to another node or to none
    return std::exchange(lost_slots_, {});
  }
  SlotSet SlotsOf(const ClusterNode& node) const;  // the slots that the node owns
  // Returns whether the node owns these slots and no others. Cost: O(kSlotCount / 64), plus O(slots.Count()) if the
  // node owns as many slots as `slots` has.
  bool OwnsExactly(const ClusterNode& node, const SlotSet& slots) const;  // true: owns these slots and no others
  void DropSlotsOf(ClusterNode& node);  // leaves the slots of the node without an owner
  // For each moving slot (CLUSTER SETSLOT), the other node: the target of a migrating slot, or the source of an
  // imported slot.
  using Moves = std::map<int, ClusterNode*>;
  const Moves& migrating() const { return migrating_; }  // slots that leave this node, by slot: the target nodes
  const Moves& importing() const { return importing_; }  // slots that this node imports, by slot: the source nodes
  ClusterNode* MigratingTo(int slot) const { return At(migrating_, slot); }  // target of the slot; null: not migrating
  ClusterNode* ImportingFrom(int slot) const { return At(importing_, slot); }  // source of the slot; null: not imported
  void SetMigrating(int slot, ClusterNode* target) {  // notes that the slot migrates to `target`; null: it does not
    Put(migrating_, slot, target);
  }
  void SetImporting(int slot, ClusterNode* source) {  // notes that the slot is imported from `source`; null: it is not
    Put(importing_, slot, source);
  }
  bool HasMovingSlots() const {  // any slot is migrating or being imported
    return !migrating_.empty() || !importing_.empty();
  }
  void StopSlotMoves() {  // forgets that slots migrate or are imported
    migrating_.clear();
    importing_.clear();
  }
  SlotSet disclaimed_slots;  // slots that their owner no longer claims: a claim of any epoch wins

  // --- Epochs.

  uint64_t current_epoch = 0;     // the largest epoch of the cluster that this node knows
  uint64_t last_vote_epoch = 0;   // epoch of this node's last vote in an election
  uint64_t LargestEpoch() const;  // the largest of current_epoch and the config epochs of all nodes

  // --- Derived state.

  bool is_ok = false;      // this node serves requests (cluster_state)
  bool is_paused = false;  // this primary has paused writes for a manual failover
  // Returns the number of primaries with slots.
  int Size() const;
  int Majority() const { return Size() / 2 + 1; }  // how many votes of primaries with slots are a majority

  // --- Requests to save nodes.conf, or to decide cluster_state again. A Request… function makes such a request, and a
  // Take… function returns the request and clears it.

  enum class Save : uint8_t { kNo, kLater, kNow };  // kLater: synced a second after the save; kNow: synced immediately
  void RequestSave(Save how = Save::kLater) { save_ = std::max(save_, how); }  // asks for a save of nodes.conf soon
  Save TakeSaveRequest() { return std::exchange(save_, Save::kNo); }  // returns and clears the most urgent request
  void RequestHealthCheck() { is_health_check_requested_ = true; }    // asks for a new decision on cluster_state
  bool TakeHealthCheckRequest() {  // whether a new decision was requested since the last call
    return std::exchange(is_health_check_requested_, false);
  }
  uint64_t version() const { return version_; }  // increases with every change that clients can learn
  void RecordChange() { ++version_; }            // must be called after a change that clients can learn

 private:
  static ClusterNode* At(const Moves& moves, int slot) {
    const auto found = moves.find(slot);
    return found == moves.end() ? nullptr : found->second;
  }
  static void Put(Moves& moves, int slot, ClusterNode* node);
  void LeavePrimary(ClusterNode& node);  // removes the node from the `replicas` of its primary
  bool HasReplicas() const;              // whether any primary has a replica

  std::map<NodeId, std::unique_ptr<ClusterNode>> nodes_;  // all known nodes, by id
  std::vector<ClusterNode*> all_;
  ClusterNode* me_;
  std::array<ClusterNode*, kSlotCount> owners_{};  // the owner of each slot; null: none
  SlotSet lost_slots_;  // slots that any node has lost since TakeLostSlots, to another node or to none
  Moves migrating_;     // slots that leave this node, with their target nodes
  Moves importing_;     // slots that this node imports, with their source nodes
  Save save_ = Save::kNo;
  bool is_health_check_requested_ = false;  // true: cluster_state must be decided again
  uint64_t version_ = 0;                    // increases with every change that clients can learn
};

}  // namespace respite
