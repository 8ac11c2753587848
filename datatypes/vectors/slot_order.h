// SlotOrder: the elements of a vector set in the order of their names. It finds an element by its name, and the
// elements of a range of names.
//
// The order stores the slots of the elements, 4 bytes each, in chunks of up to 256. The names are read from the
// elements themselves, so each function takes `name_of`, which returns the name of a slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"

namespace respite {

class SlotOrder {  // slots in the order of the names of their elements
 public:
  struct Place {       // where an element is, or would be
    size_t chunk = 0;  // index in chunks_; chunks_.size(): after the last element
    size_t index = 0;  // index in the chunk
  };

  // Returns the place of the first element whose name is not below `name`. Cost: O(log n) comparisons.
  template <class NameOf>
  Place AtOrAfter(Bytes name, NameOf&& name_of) const {  // the first element not below `name`; name_of(slot): its name
    const auto is_below = [&](uint32_t slot, Bytes wanted) { return name_of(slot) < wanted; };
    auto chunk = std::upper_bound(chunks_.begin(), chunks_.end(), name, [&](Bytes wanted, const auto& candidate) {
      return wanted < name_of(candidate.front());
    });
    if (chunk != chunks_.begin()) --chunk;
    if (chunk == chunks_.end()) return End();
    const auto at = std::lower_bound(chunk->begin(), chunk->end(), name, is_below);
    return Normalized({static_cast<size_t>(chunk - chunks_.begin()), static_cast<size_t>(at - chunk->begin())});
  }
  bool IsEnd(const Place& place) const { return place.chunk >= chunks_.size(); }       // true: after the last element
  uint32_t At(const Place& place) const { return chunks_[place.chunk][place.index]; }  // requires: !IsEnd(place)
  void Next(Place& place) const {                                                      // moves to the next element
    place = Normalized({place.chunk, place.index + 1});
  }
  Place First() const {  // the place of the first element
    return Normalized({});
  }

  // Adds a slot whose name is not in the order yet. Cost: O(log n) comparisons, and O(n / 128) moves when a chunk
  // splits.
  template <class NameOf>
  void Insert(uint32_t slot, NameOf&& name_of) {  // adds a slot, whose name must be new
    const Place place = AtOrAfter(name_of(slot), name_of);
    if (chunks_.empty()) return chunks_.push_back({slot});
    if (!IsEnd(place) && place.index > 0) return InsertAt(place, slot);
    // The slot belongs between two chunks, or at an end of the order. Adds it to the end of the chunk before, or to the
    // start of the first chunk.
    if (place.chunk == 0) return InsertAt({0, 0}, slot);
    InsertAt({place.chunk - 1, chunks_[place.chunk - 1].size()}, slot);
  }
  // Removes an element. Requires: !IsEnd(place).
  void Erase(const Place& place);  // removes the element at this place
  // Stores the new slot of the element at `place`, whose name has not changed.
  void Replace(const Place& place, uint32_t slot) { chunks_[place.chunk][place.index] = slot; }

  size_t UsedBytes() const;  // memory in bytes; cost: O(n / 256)

 private:
  static constexpr size_t kMaxChunk = 256;  // maximum number of elements of a chunk

  Place End() const {  // the place after the last element
    return {chunks_.size(), 0};
  }
  Place Normalized(Place place) const {  // moves from the end of a chunk to the next chunk
    if (place.chunk < chunks_.size() && place.index >= chunks_[place.chunk].size()) return {place.chunk + 1, 0};
    return place;
  }
  void InsertAt(const Place& place, uint32_t slot);  // inserts a slot at this place; splits the chunk if it is full

  std::vector<std::vector<uint32_t>> chunks_;  // the slots in order; no chunk is empty
};

}  // namespace respite
