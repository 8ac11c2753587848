// SlotStats: counts the cost of each hash slot: time, and bytes from and to clients (CLUSTER SLOT-STATS).
//
// It observes calls and the replication stream only while cluster-slot-stats-enabled is on, and costs nothing
// otherwise. A call counts for the slot of its keys. A transaction or script counts with all commands that it ran, or
// for no slot if their keys are in several.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server/dataset/journal.h"
#include "server/execution/call_observer.h"

namespace respite {

class ClusterView;
struct Services;
class SlotRouter;

class SlotStats final : public CallObserver, public Journal {  // counters for CLUSTER SLOT-STATS
 public:
  struct Figures {           // the cost of one slot
    uint64_t cpu_us = 0;     // time of calls
    uint64_t bytes_in = 0;   // requests, each counted as an array of bulk strings
    uint64_t bytes_out = 0;  // replies, messages of shard channels, the stream to replicas
  };

  SlotStats(const Services& services, const SlotRouter& router);
  ~SlotStats() override;

  void ApplyEnabledSetting();  // cluster-slot-stats-enabled; earlier counts stay
  void Reset() { figures_.clear(); }
  // Resets slots of other shards, so that they start from 0 when they return. Cost: O(slots), if anything was counted.
  void ResetSlotsOfOtherShards(ClusterView& view);
  Figures Of(int slot) const { return figures_.empty() ? Figures{} : figures_[static_cast<size_t>(slot)]; }

  // CallObserver, Journal
  void OnCall(const FinishedCall& call) override;        // adds its cost to its slot
  void Append(const PropagatedGroup& effects) override;  // counts the bytes for replicas

 private:
  static constexpr int kNoSlot = -1;     // no command had a key so far
  static constexpr int kManySlots = -2;  // the commands have keys of several slots

  struct Queued {        // the commands of a transaction
    uint64_t bytes = 0;  // of the requests
    uint64_t count = 0;  // of the commands
  };

  Figures& FiguresOf(int slot);                       // allocates those of all slots at the first call
  void CountQueuedCommand(const FinishedCall& call);  // in the transaction under way
  void Note(int slot);
  void OnShardMessage(Bytes channel, Bytes message, size_t receivers);  // was published
  void AttachAll();                                                     // begins to observe calls, changes and messages
  void DetachAll();                                                     // ceases to observe

  const Services& services_;
  const SlotRouter& router_;
  bool is_on_ = false;
  std::vector<Figures> figures_;  // empty: nothing was counted
  // For the client's call that is under way: its slot, the queued commands of its transaction, and the bytes that it
  // adds to the stream of each replica.
  int slot_ = kNoSlot;
  Queued queued_;                // of the transaction under way
  uint64_t streamed_bytes_ = 0;  // of changes, for each replica
};

}  // namespace respite
