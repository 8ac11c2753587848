#include "datatypes/stream_group.h"

namespace respite {

void DeliveryOrder::Put(const StreamId& id, const PendingEntry& entry) {
  const uint64_t time = entry.IsReleased() ? 0 : static_cast<uint64_t>(entry.delivered_ms) + 1;
  const StreamId key{time, next_serial_++};
  if (!places_.Insert(id, key)) {
    StreamId& place = *places_.Find(id);
    ids_.Erase(place);
    place = key;
  }
  ids_.Insert(key, id);
}

void DeliveryOrder::Remove(const StreamId& id) {
  ids_.Erase(*places_.Find(id));
  places_.Erase(id);
}

DeliveryOrder::Cursor DeliveryOrder::FirstIdleLessThan(int64_t below_ms, int64_t now_ms) const {
  // Finds the first entry that was delivered after the time now_ms - below_ms. Entries delivered then or before are
  // idle for at least below_ms. If that time is negative, finds the first entry that XNACK has not released. In ids_,
  // an entry delivered at the time t has the key t + 1; a released one has 0.
  if (below_ms > now_ms) return ids_.AtOrAfter({1, 0});
  return ids_.AtOrAfter({static_cast<uint64_t>(now_ms - below_ms) + 2, 0});
}

StreamConsumer* StreamGroup::FindConsumer(Bytes name) {
  const auto found = consumers_.find(name);
  return found == consumers_.end() ? nullptr : &found->second;
}

const StreamConsumer* StreamGroup::FindConsumer(Bytes name) const {
  const auto found = consumers_.find(name);
  return found == consumers_.end() ? nullptr : &found->second;
}

StreamConsumer& StreamGroup::CreateConsumer(Bytes name, int64_t now_ms) {
  const auto place = consumers_.try_emplace(std::string(name), now_ms).first;
  place->second.name = &place->first;
  return place->second;
}

void StreamGroup::DeleteConsumer(StreamConsumer& consumer) {
  for (auto at = consumer.pending.First(); !at.AtEnd(); at.Next()) {
    pending_.Erase(at.Id());
    if (by_delivery_ != nullptr) by_delivery_->Remove(at.Id());
  }
  consumers_.erase(consumers_.find(*consumer.name));
}

void StreamGroup::Assign(const StreamId& id, const PendingEntry& entry) {
  if (!pending_.Insert(id, entry)) {
    PendingEntry& known = *pending_.Find(id);
    if (known.IsReleased()) {
      --released_count_;
    } else if (known.consumer != entry.consumer) {
      known.consumer->pending.Erase(id);
    }
    known = entry;
  }
  entry.consumer->pending.Insert(id, {});
  if (by_delivery_ != nullptr) by_delivery_->Put(id, entry);
}

void StreamGroup::DeliverAgain(const StreamId& id, int64_t now_ms) {
  PendingEntry& entry = *pending_.Find(id);
  entry.delivered_ms = now_ms;
  entry = entry.WithOneMoreDelivery();
  if (by_delivery_ != nullptr) by_delivery_->Put(id, entry);
}

bool StreamGroup::RemovePending(const StreamId& id) {
  const PendingEntry* entry = pending_.Find(id);
  if (entry == nullptr) return false;
  if (entry->IsReleased()) {
    --released_count_;
  } else {
    entry->consumer->pending.Erase(id);
  }
  if (by_delivery_ != nullptr) by_delivery_->Remove(id);
  return pending_.Erase(id);
}

void StreamGroup::Release(const StreamId& id, uint64_t deliveries) {
  ByDelivery();  // creates by_delivery_, in which released entries keep their order
  const PendingEntry released{nullptr, 0, deliveries};
  if (!pending_.Insert(id, released)) {
    PendingEntry& known = *pending_.Find(id);
    if (known.IsReleased()) --released_count_;
    if (!known.IsReleased()) known.consumer->pending.Erase(id);
    known = released;
  }
  ++released_count_;
  by_delivery_->Put(id, released);
}

const DeliveryOrder& StreamGroup::ByDelivery() {
  if (by_delivery_ == nullptr) {
    by_delivery_ = std::make_unique<DeliveryOrder>();
    for (auto at = pending_.First(); !at.AtEnd(); at.Next()) by_delivery_->Put(at.Id(), at.Get());
  }
  return *by_delivery_;
}

void StreamGroup::CopyFrom(const StreamGroup& other) {
  for (const auto& [name, consumer] : other.consumers_) {
    StreamConsumer& copy = CreateConsumer(name, consumer.seen_ms);
    copy.active_ms = consumer.active_ms;
  }
  for (auto at = other.pending_.First(); !at.AtEnd(); at.Next()) {
    PendingEntry entry = at.Get();
    if (entry.IsReleased()) continue;
    entry.consumer = FindConsumer(*entry.consumer->name);
    Assign(at.Id(), entry);
  }
  if (other.released_count_ == 0) return;
  for (auto at = other.by_delivery_->First(); !at.AtEnd() && DeliveryOrder::DeliveredMs(at) < 0; at.Next()) {
    Release(at.Get(), other.FindPending(at.Get())->deliveries);
  }
}

size_t StreamGroup::UsedBytes() const {
  constexpr size_t kMapNode = 32;  // overhead of a node of std::map
  size_t used = sizeof *this + pending_.UsedBytes();
  for (const auto& [name, consumer] : consumers_) {
    used += kMapNode + sizeof name + sizeof consumer + name.capacity() + consumer.pending.UsedBytes();
  }
  if (by_delivery_ != nullptr) used += by_delivery_->UsedBytes();
  return used;
}

bool StreamGroup::IsConsistent() const {
  if (!pending_.IsConsistent()) return false;
  size_t owned = 0;
  for (const auto& [name, consumer] : consumers_) {
    if (consumer.name != &name || !consumer.pending.IsConsistent()) return false;
    for (auto at = consumer.pending.First(); !at.AtEnd(); at.Next(), ++owned) {
      const PendingEntry* entry = FindPending(at.Id());
      if (entry == nullptr || entry->consumer != &consumer) return false;
    }
  }
  if (by_delivery_ != nullptr && by_delivery_->Size() != pending_.Size()) return false;
  return owned + released_count_ == pending_.Size();
}

}  // namespace respite
