// SlotStats: the counters of CLUSTER SLOT-STATS. It observes calls and the replication stream only while
// cluster-slot-stats-enabled is on, and costs nothing otherwise. A call counts for the slot of its keys. A transaction
// or script counts as one call with all commands that it ran. If the keys are in several slots, the call counts for no
// slot.
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
  struct Figures {           // the counts of one slot
    uint64_t cpu_us = 0;     // microseconds that the calls took
    uint64_t bytes_in = 0;   // bytes of requests, each counted as an array of bulk strings
    uint64_t bytes_out = 0;  // bytes of replies, messages of shard channels, and the stream to replicas
  };

  SlotStats(const Services& services, const SlotRouter& router);
  ~SlotStats() override;

  void ApplyEnabledSetting();         // begins or ceases to count (cluster-slot-stats-enabled); keeps earlier counts
  void Reset() { figures_.clear(); }  // sets all counts to 0
  // Resets the counts of slots of other shards, so that they start from 0 if the slots come to this shard. Cost:
  // O(slots), if anything was counted.
  void ResetSlotsOfOtherShards(ClusterView& view);  // sets the counts of these slots to 0
  Figures Of(int slot) const { return figures_.empty() ? Figures{} : figures_[static_cast<size_t>(slot)]; }

  // The functions of CallObserver and Journal.
  void OnCall(const FinishedCall& call) override;      // adds the cost of the call to its slot
  void Append(const PropagatedGroup& group) override;  // adds the bytes that the call sends to replicas

 private:
  static constexpr int kNoSlot = -1;     // no command had a key so far
  static constexpr int kManySlots = -2;  // the commands have keys of several slots

  struct Queued {        // the commands of a transaction
    uint64_t bytes = 0;  // bytes of the requests
    uint64_t count = 0;  // number of commands
  };

  Figures& FiguresOf(int slot);                       // the counts of a slot; allocates those of all slots at first
  void CountQueuedCommand(const FinishedCall& call);  // adds a command inside EXEC to queued_commands_
  void RecordSlot(int slot);                          // records the slot of one command of the call that runs
  void OnShardMessage(Bytes channel, Bytes message,   // counts the bytes that were sent to the receivers
                      size_t receivers);
  void StartObserving();  // begins to observe calls, changes and messages
  void StopObserving();   // stops observing, but keeps figures_

  const Services& services_;  // the other parts of this server
  const SlotRouter& router_;  // finds the slot of a command
  bool is_on_ = false;
  std::vector<Figures> figures_;  // the counts of each slot; empty: nothing was counted
  // These three fields describe the client's call that is under way.
  int slot_ = kNoSlot;           // the slot of the call's keys; or kNoSlot, or kManySlots
  Queued queued_commands_;       // commands of the transaction under way
  uint64_t streamed_bytes_ = 0;  // bytes that the call has added to the stream of each replica
};

}  // namespace respite
