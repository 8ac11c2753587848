// SlotStats: the counters of CLUSTER SLOT-STATS. SlotStats observes calls and the replication stream only while
// cluster-slot-stats-enabled is on, and costs nothing otherwise. A call counts for the slot of its keys, or for no slot
// if they are in several. A transaction or script counts as one call, together with the commands that it ran.
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

class SlotStats final : public CallObserver, public Journal {  // the counters of CLUSTER SLOT-STATS
 public:
  struct Counters {          // the counters of one slot
    uint64_t cpu_us = 0;     // microseconds that the calls took
    uint64_t bytes_in = 0;   // bytes of requests, each counted as an array of bulk strings
    uint64_t bytes_out = 0;  // bytes of replies, messages of shard channels, and the stream to replicas
  };

  SlotStats(const Services& services, const SlotRouter& router);
  ~SlotStats() override;

  void ApplyEnabledSetting();          // starts or stops counting (cluster-slot-stats-enabled); keeps counts
  void Reset() { counters_.clear(); }  // sets all counters to 0
  // Resets the counts of slots of other shards, so that they start from 0 if the slots come to this shard. Cost:
  // O(slots), if anything was counted.
  void ResetCountersOfOtherShards(ClusterView& view);  // sets the counters of slots of other shards to 0
  // Returns the counters of a slot. If nothing was counted, all are 0.
  Counters Of(int slot) const { return counters_.empty() ? Counters{} : counters_[static_cast<size_t>(slot)]; }

  // The functions of CallObserver and Journal.
  void OnCall(const FinishedCall& call) override;      // adds the costs of a client's call to its slot
  void Append(const PropagatedGroup& group) override;  // adds the bytes that the call sends to replicas

 private:
  static constexpr int kNoSlot = -1;     // slot_: no command of this call (transaction, script) had a key so far
  static constexpr int kManySlots = -2;  // slot_: the commands of this call have keys of several slots

  struct QueuedTotals {  // the queued requests of a transaction, counted while EXEC runs them
    uint64_t bytes = 0;  // bytes of the queued requests
    uint64_t count = 0;  // number of the queued requests
  };

  Counters& CountersOf(int slot);                     // the counters of a slot; first allocates those of all slots
  void CountQueuedCommand(const FinishedCall& call);  // adds a command inside EXEC to the transaction's bytes and count
  void RecordSlot(int slot);  // stores the slot of the running call in slot_; a second one makes it kManySlots
  void OnShardMessage(Bytes channel, Bytes message,  // counts a sharded pub/sub message, once per receiver
                      size_t receivers);
  void StartObserving();  // starts counting calls, changes and messages
  void StopObserving();   // stops counting, but keeps counters_

  const Services& services_;        // the other parts of this server
  const SlotRouter& router_;        // finds the slot of a command's keys
  bool is_on_ = false;              // cluster-slot-stats-enabled is on
  std::vector<Counters> counters_;  // the counters of each slot; empty: nothing was counted
  // slot_, queued_totals_ and streamed_bytes_ describe the client's call that is being counted.
  int slot_ = kNoSlot;           // the slot of the call's keys; or kNoSlot, or kManySlots
  QueuedTotals queued_totals_;   // sums over the commands that the running EXEC has run so far
  uint64_t streamed_bytes_ = 0;  // bytes that the call has added to the stream of each replica
};

}  // namespace respite
