#include "datatypes/stream_group.h"

namespace respite {

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
  for (auto at = consumer.pending.First(); !at.AtEnd(); at.Next()) pending_.Erase(at.Id());
  consumers_.erase(consumers_.find(*consumer.name));
}

void StreamGroup::Assign(const StreamId& id, const PendingEntry& entry) {
  if (!pending_.Insert(id, entry)) {
    PendingEntry& known = *pending_.Find(id);
    if (known.consumer != entry.consumer) known.consumer->pending.Erase(id);
    known = entry;
  }
  entry.consumer->pending.Insert(id, {});
}

void StreamGroup::DeliverAgain(const StreamId& id, int64_t now_ms) {
  PendingEntry& entry = *pending_.Find(id);
  entry.delivered_ms = now_ms;
  entry = entry.WithOneMoreDelivery();
}

bool StreamGroup::RemovePending(const StreamId& id) {
  const PendingEntry* entry = pending_.Find(id);
  if (entry == nullptr) return false;
  entry->consumer->pending.Erase(id);
  return pending_.Erase(id);
}

void StreamGroup::CopyFrom(const StreamGroup& other) {
  for (const auto& [name, consumer] : other.consumers_) {
    StreamConsumer& copy = CreateConsumer(name, consumer.seen_ms);
    copy.active_ms = consumer.active_ms;
  }
  for (auto at = other.pending_.First(); !at.AtEnd(); at.Next()) {
    PendingEntry entry = at.Get();
    entry.consumer = FindConsumer(*entry.consumer->name);
    Assign(at.Id(), entry);
  }
}

size_t StreamGroup::UsedBytes() const {
  constexpr size_t kMapNode = 32;  // overhead of a node of std::map
  size_t used = sizeof *this + pending_.UsedBytes();
  for (const auto& [name, consumer] : consumers_) {
    used += kMapNode + sizeof name + sizeof consumer + name.capacity() + consumer.pending.UsedBytes();
  }
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
  return owned == pending_.Size();
}

}  // namespace respite
