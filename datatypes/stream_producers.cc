#include "datatypes/stream_producers.h"

#include <algorithm>

namespace respite {

StreamProducers::StreamProducers(const StreamProducers& other)
    : limits_(other.limits_), added_count_(other.added_count_), duplicate_count_(other.duplicate_count_) {
  for (const auto& [name, producer] : other.producers_) {
    Producer& copy = producers_[name];
    for (const auto& entry : producer.in_order) copy.in_order.push_back(copy.entries.insert(*entry).first);
  }
}

void StreamProducers::SetLimits(const IdempotencyLimits& limits) {
  if (limits == limits_) return;
  limits_ = limits;
  producers_.clear();
}

bool StreamProducers::IsExpired(const StreamId& entry, int64_t now_ms) const {
  if (now_ms < 0 || entry.ms > static_cast<uint64_t>(now_ms)) return false;
  return static_cast<uint64_t>(now_ms) - entry.ms >= static_cast<uint64_t>(limits_.duration_s) * 1000;
}

const StreamId* StreamProducers::Find(Bytes producer, Bytes id, int64_t now_ms) const {
  const auto owner = producers_.find(producer);
  if (owner == producers_.end()) return nullptr;
  const auto found = owner->second.entries.find(id);
  if (found == owner->second.entries.end() || IsExpired(found->second, now_ms)) return nullptr;
  return &found->second;
}

void StreamProducers::Add(Bytes producer, Bytes id, const StreamId& entry, int64_t now_ms) {
  const auto owner = producers_.try_emplace(std::string(producer)).first;
  Producer& target = owner->second;
  DropExpired(target, now_ms);
  const auto [place, is_new] = target.entries.insert_or_assign(std::string(id), entry);
  if (!is_new) target.in_order.erase(std::ranges::find(target.in_order, Entries::const_iterator(place)));
  target.in_order.push_back(place);
  while (target.in_order.size() > static_cast<size_t>(limits_.max_size)) DropOldest(target);
  ++added_count_;
  DropExpiredOfOthers(now_ms);
}

bool StreamProducers::Load(Bytes producer, Bytes id, const StreamId& entry) {
  Producer& target = producers_.try_emplace(std::string(producer)).first->second;
  const auto [place, is_new] = target.entries.try_emplace(std::string(id), entry);
  if (is_new) target.in_order.push_back(place);
  return is_new;
}

void StreamProducers::DropOldest(Producer& producer) {
  producer.entries.erase(producer.in_order.front());
  producer.in_order.pop_front();
}

void StreamProducers::DropExpired(Producer& producer, int64_t now_ms) {
  while (!producer.in_order.empty() && IsExpired(producer.in_order.front()->second, now_ms)) DropOldest(producer);
}

void StreamProducers::DropExpiredOfOthers(int64_t now_ms) {
  constexpr int kPerAdded = 2;  // producers to visit per Add: more than one, so that the number of expired IDs falls
  auto at = producers_.upper_bound(last_swept_);
  for (int left = kPerAdded; left > 0 && !producers_.empty(); --left) {
    if (at == producers_.end()) at = producers_.begin();
    DropExpired(at->second, now_ms);
    last_swept_ = at->first;
    at = at->second.entries.empty() ? producers_.erase(at) : std::next(at);
  }
}

StreamProducers::Counts StreamProducers::CountTracked(int64_t now_ms) const {
  Counts counts;
  for (const auto& [name, producer] : producers_) {
    const auto live =
        std::ranges::find_if(producer.in_order, [&](const auto& entry) { return !IsExpired(entry->second, now_ms); });
    const auto count = static_cast<uint64_t>(producer.in_order.end() - live);
    counts.entries += count;
    counts.producers += count > 0 ? 1 : 0;
  }
  return counts;
}

bool StreamProducers::IsUnused() const {
  return limits_ == IdempotencyLimits() && producers_.empty() && added_count_ == 0 && duplicate_count_ == 0;
}

size_t StreamProducers::UsedBytes() const {
  constexpr size_t kMapNode = 32;  // overhead of a node of std::map
  size_t used = sizeof *this;
  for (const auto& [name, producer] : producers_) {
    used += kMapNode + sizeof name + sizeof producer + name.capacity();
    for (const auto& entry : producer.in_order) {
      used += kMapNode + sizeof *entry + sizeof entry + entry->first.capacity();
    }
  }
  return used;
}

}  // namespace respite
