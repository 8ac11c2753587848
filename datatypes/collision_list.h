// CollisionList: the slots of a HashIndex that do not fit into its pages, ordered by hash and key.
//
// Pages can hold any items with well distributed hashes. Items with equal hashes, or hashes that agree in too many
// bits, would make pages split without end. This list stores such items, and finds each by its key. Clients cannot
// produce such hashes without the secret hash key. The list keeps memory and time bounded even if the key becomes
// known.
//
// Structure: sorted chunks of at most 511 slots, and an array of pointers to them. Cost: O(log n) comparisons of keys,
// and moving one chunk; about every 255th insertion also moves an array of n / 255 pointers. Memory: 16 to 64 bytes per
// slot, but at least one chunk of 8 KB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "datatypes/slot.h"

namespace respite {

template <class Slot>
class CollisionList {  // the slots that do not fit into the pages of a HashIndex
 public:
  struct Item {
    uint64_t hash;
    Slot slot;
  };

  size_t Size() const { return size_; }
  size_t UsedBytes() const {  // bytes of the chunks and of the pointers to them, without the items
    return chunks_.capacity() * sizeof(chunks_[0]) + chunks_.size() * sizeof(Chunk);
  }

  // Returns the address of the slot with this key, or null if there is none.
  Slot* Find(Bytes key, uint64_t hash) {
    return FindBy(hash, [&](const Slot& slot) { return SlotKey(slot).compare(key); });
  }
  // `key` must be the key of `wanted`. The item that `wanted` points to may be freed already, so FindSlot does not read
  // the item. Requires: no other slot with this key is in the list.
  Slot* FindSlot(const Slot& wanted, Bytes key,  // where the list stores exactly this slot; null: not stored
                 uint64_t hash) {
    return FindBy(hash, [&](const Slot& slot) { return slot == wanted ? 0 : SlotKey(slot).compare(key); });
  }
  // Returns true if the list contains the slot. Does not read the item that the slot points to. Cost: O(log n + slots
  // of this hash).
  bool Has(const Slot& wanted, uint64_t hash) const {
    bool found = false;
    ForEachBetween(hash, hash, [&](const Item& item) { found = found || item.slot == wanted; });
    return found;
  }

  void Insert(const Slot& slot, uint64_t hash) {  // adds a slot; requires: its key is not in the list
    const Bytes key = SlotKey(slot);
    const Place at = LowerBound(hash, [&](const Slot& other) { return SlotKey(other).compare(key); });
    if (chunks_.empty()) chunks_.push_back(std::make_unique<Chunk>());
    InsertAt(at.chunk == chunks_.size() ? Place{at.chunk - 1, chunks_.back()->count} : at, {hash, slot});
    ++size_;
  }

  void Remove(Bytes key, uint64_t hash) {  // removes the slot of this key; requires: the key is in the list
    const Place at = LowerBound(hash, [&](const Slot& slot) { return SlotKey(slot).compare(key); });
    Chunk& chunk = *chunks_[at.chunk];
    std::copy(chunk.items + at.index + 1, chunk.items + chunk.count, chunk.items + at.index);
    --chunk.count;
    --size_;
    if (chunk.count <= kItemsPerChunk / 4) MergeWithNeighbour(at.chunk);
  }

  // ForEachBetween calls visit(const Item&) for each item with first <= hash <= last, in the order of hashes.
  template <class Visit>
  void ForEachBetween(uint64_t first, uint64_t last, Visit&& visit) const {  // visits items with first <= hash <= last
    const Place begin = LowerBound(first, [](const Slot&) { return 0; });
    for (size_t c = begin.chunk, i = begin.index; c < chunks_.size(); ++c, i = 0)
      for (; i < chunks_[c]->count; ++i) {
        if (chunks_[c]->items[i].hash > last) return;
        visit(chunks_[c]->items[i]);
      }
  }

  template <class Visit>
  bool ForEachWhile(Visit&& visit) const {  // visits slots until visit(slot) is false; true: visited all
    for (const auto& chunk : chunks_)
      for (size_t i = 0; i < chunk->count; ++i)
        if (!visit(chunk->items[i].slot)) return false;
    return true;
  }

  // Each slot is equally likely. Cost: on average a few random numbers, but hundreds if the list has only a few slots.
  const Slot& PickRandom(Random& random) const {  // returns a random slot; requires: the list is not empty
    for (;;) {
      const Chunk& chunk = *chunks_[random.Below(chunks_.size())];
      const uint64_t at = random.Below(kItemsPerChunk);
      if (at < chunk.count) return chunk.items[at].slot;
    }
  }

 private:
  static constexpr size_t kItemsPerChunk = 511;  // number of items for which each chunk has room; a chunk takes 8 KB
  struct Chunk {                                 // up to kItemsPerChunk items, sorted by hash, then by key
    size_t count = 0;                            // number of items in use
    Item items[kItemsPerChunk];                  // the first `count` are in use, sorted by hash, then by key
  };
  struct Place {   // a position: item `index` of chunk `chunk`
    size_t chunk;  // index in chunks_
    size_t index;  // index of the item in its chunk
  };

  // LowerBound returns the first place that is not before (hash, wanted key). `compare(slot)` is negative if the key of
  // `slot` is less than the wanted key.
  template <class Compare>
  Place LowerBound(uint64_t hash, Compare&& compare) const {  // the first place not before (hash, wanted key)
    const auto before = [&](const Item& item) { return item.hash != hash ? item.hash < hash : compare(item.slot) < 0; };
    const auto chunk = std::partition_point(chunks_.begin(), chunks_.end(), [&](const auto& candidate) {
      return before(candidate->items[candidate->count - 1]);
    });
    if (chunk == chunks_.end()) return {chunks_.size(), 0};
    const Item* item = std::partition_point((*chunk)->items, (*chunk)->items + (*chunk)->count, before);
    return {static_cast<size_t>(chunk - chunks_.begin()), static_cast<size_t>(item - (*chunk)->items)};
  }

  template <class Compare>
  Slot* FindBy(uint64_t hash, Compare&& compare) {  // the slot with this hash and compare(slot) == 0; null: none
    const Place at = LowerBound(hash, compare);
    if (at.chunk == chunks_.size()) return nullptr;
    Item& item = chunks_[at.chunk]->items[at.index];
    return item.hash == hash && compare(item.slot) == 0 ? &item.slot : nullptr;
  }

  void InsertAt(Place at, const Item& item) {  // inserts an item before place `at`; splits a full chunk first
    if (chunks_[at.chunk]->count == kItemsPerChunk) at = SplitAt(at);
    Chunk& chunk = *chunks_[at.chunk];
    std::copy_backward(chunk.items + at.index, chunk.items + chunk.count, chunk.items + chunk.count + 1);
    chunk.items[at.index] = item;
    ++chunk.count;
  }

  Place SplitAt(Place at) {  // splits the full chunk in half; returns the new position of `at`
    constexpr size_t kHalf = kItemsPerChunk / 2;
    auto upper = std::make_unique<Chunk>();
    Chunk& lower = *chunks_[at.chunk];
    std::copy(lower.items + kHalf, lower.items + kItemsPerChunk, upper->items);
    lower.count = kHalf;
    upper->count = kItemsPerChunk - kHalf;
    chunks_.insert(chunks_.begin() + static_cast<ptrdiff_t>(at.chunk) + 1, std::move(upper));
    return at.index <= kHalf ? at : Place{at.chunk + 1, at.index - kHalf};
  }

  void MergeWithNeighbour(size_t at) {  // removes chunk `at` if it is empty, or merges it with a small neighbour
    if (at + 1 == chunks_.size() && at != 0 && chunks_[at]->count != 0) --at;
    Chunk& lower = *chunks_[at];
    if (lower.count == 0) return Erase(at);
    if (at + 1 == chunks_.size()) return;
    const Chunk& upper = *chunks_[at + 1];
    if (lower.count + upper.count > kItemsPerChunk * 3 / 4) return;
    std::copy(upper.items, upper.items + upper.count, lower.items + lower.count);
    lower.count += upper.count;
    Erase(at + 1);
  }
  void Erase(size_t chunk) { chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(chunk)); }  // erases a chunk

  size_t size_ = 0;
  std::vector<std::unique_ptr<Chunk>> chunks_;  // in the order of hash, then key; no chunk is empty
};

}  // namespace respite
