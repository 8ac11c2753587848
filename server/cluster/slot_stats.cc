#include "server/cluster/slot_stats.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/key_slot.h"
#include "protocol/request_text.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/current_execution.h"
#include "server/clients/pubsub.h"
#include "server/cluster/cluster_view.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/execution/slot_router.h"
#include "server/replication/replication.h"

namespace respite {

namespace {

constexpr size_t kMultiBytes = 15;  // *1\r\n$5\r\nmulti\r\n
constexpr Bytes kQueued = "+QUEUED\r\n";

}  // namespace

SlotStats::SlotStats(const Services& services, const SlotRouter& router) : services_(services), router_(router) {
  ApplyEnabledSetting();
}

SlotStats::~SlotStats() {
  if (is_on_) StopObserving();
}

void SlotStats::ApplyEnabledSetting() {
  const bool was_on =
      std::exchange(is_on_, (services_.env.settings.cluster_slot_stats & (kSlotStatsCpu | kSlotStatsNet)) != 0);
  if (is_on_ == was_on) return;
  is_on_ ? StartObserving() : StopObserving();
}

void SlotStats::StartObserving() {
  services_.execution.observers.Attach(*this);
  services_.data.dataset.journals.Attach(*this);
  services_.clients.pubsub.SetShardMessageListener(
      [this](Bytes channel, Bytes message, size_t receivers) { OnShardMessage(channel, message, receivers); });
}

void SlotStats::StopObserving() {
  services_.execution.observers.Detach(*this);
  services_.data.dataset.journals.Detach(*this);
  services_.clients.pubsub.SetShardMessageListener(nullptr);
  slot_ = kNoSlot;
  queued_totals_ = {};
  streamed_bytes_ = 0;
}

void SlotStats::ResetCountersOfOtherShards(ClusterView& view) {
  if (counters_.empty()) return;
  const ClusterNode* const mine = &view.PrimaryOf(view.me());
  for (int slot = 0; slot < kSlotCount; ++slot) {
    if (view.Owner(slot) != mine) CountersOf(slot) = {};
  }
}

SlotStats::Counters& SlotStats::CountersOf(int slot) {
  if (counters_.empty()) counters_.resize(kSlotCount);
  return counters_[static_cast<size_t>(slot)];
}

void SlotStats::RecordSlot(int slot) {
  if (slot == kNoSlot || slot == slot_) return;
  slot_ = slot_ == kNoSlot ? slot : kManySlots;
}

void SlotStats::CountQueuedCommand(const FinishedCall& call) {
  queued_totals_.bytes += RequestBytes(call.words);
  ++queued_totals_.count;
}

// Adds the costs of a client's call to its slot. For a transaction or script, this is called for each of its commands,
// and last for the EXEC or EVAL itself. The time and the reply of the EXEC or EVAL include those of its commands.
void SlotStats::OnCall(const FinishedCall& call) {
  RecordSlot(router_.SlotOf(call.command, call.words).value_or(kNoSlot));
  if (call.nesting != 0) {
    if (call.nesting == 1 && !call.session.IsScript()) CountQueuedCommand(call);
    return;
  }
  const int slot = std::exchange(slot_, kNoSlot);
  const QueuedTotals queued = std::exchange(queued_totals_, {});
  const uint64_t streamed = std::exchange(streamed_bytes_, 0);
  if (slot < 0) return;
  const bool is_exec = call.command.Spec().transaction == TransactionRole::kExecutes;
  Counters& figures = CountersOf(slot);
  figures.cpu_us += static_cast<uint64_t>(std::max<int64_t>(call.duration_us, 0));
  figures.bytes_in += RequestBytes(call.words) + queued.bytes + (is_exec ? kMultiBytes : 0);
  figures.bytes_out +=
      call.reply_bytes + queued.count * kQueued.size() + streamed * services_.replication.replicas().All().size();
}

// Adds to streamed_bytes_ the bytes that the running call propagates to each replica, including the DEL of an expired
// key that the call has found. Ignores changes that no call makes, such as the expired keys that the timer removes.
void SlotStats::Append(const PropagatedGroup& group) {
  if (services_.clients.current_execution.command == nullptr) return;
  for (size_t i = 0; i < group.Count(); ++i) {
    if ((group[i].targets & JournalEntry::kReplicas) != 0) streamed_bytes_ += group[i].request.size();
  }
}

void SlotStats::OnShardMessage(Bytes channel, Bytes message, size_t receivers) {
  const std::array<Bytes, 3> words = {"smessage", channel, message};
  if (receivers != 0) CountersOf(KeySlot(channel)).bytes_out += RequestBytes(words) * receivers;
}

}  // namespace respite
