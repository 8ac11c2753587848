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

class SlotStats final : public CallObserver, public Journal {
 public:
  struct Figures {
    uint64_t cpu_us = 0;
    uint64_t bytes_in = 0;   // requests, each counted as an array of bulk strings
    uint64_t bytes_out = 0;  // replies, messages of shard channels, the stream to replicas
  };

  SlotStats(const Services& services, const SlotRouter& router);
  ~SlotStats() override;

  // Applies a change of cluster-slot-stats-enabled. Earlier counts stay.
  void AdoptSetting();
  void Reset() { figures_.clear(); }
  // Resets slots of other shards, so that they start from 0 when they return. Cost: O(slots), if anything was counted.
  void ForgetOthers(ClusterView& view);
  Figures Of(int slot) const { return figures_.empty() ? Figures{} : figures_[static_cast<size_t>(slot)]; }

  // CallObserver, Journal
  void OnCall(const FinishedCall& call) override;
  void Append(const UnitEffects& effects) override;

 private:
  static constexpr int kNoSlot = -1;
  static constexpr int kManySlots = -2;

  struct Queued {
    uint64_t bytes = 0;
    uint64_t count = 0;
  };

  Figures& FiguresOf(int slot);
  void NoteQueued(const FinishedCall& call);
  void Note(int slot);
  void OnShardMessage(Bytes channel, Bytes message, size_t receivers);
  void AttachAll();
  void DetachAll();

  const Services& services_;
  const SlotRouter& router_;
  bool is_on_ = false;
  std::vector<Figures> figures_;  // empty: nothing was counted
  // For the client's call that is under way: its slot, the queued commands of its transaction, and the bytes that it
  // adds to the stream of each replica.
  int slot_ = kNoSlot;
  Queued queued_;
  uint64_t streamed_bytes_ = 0;
};

}  // namespace respite
