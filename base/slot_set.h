// SlotSet: some of the 16384 hash slots, as a bitmap. Messages of the cluster bus contain the same bitmap: slot s is
// bit s % 8 of byte s / 8.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_order.h"
#include "base/bytes.h"
#include "base/key_slot.h"

namespace respite {

class SlotSet {  // some of the 16384 hash slots, as a bitmap
 public:
  static constexpr size_t kBytes = kSlotCount / 8;  // size of the bitmap in bytes

  bool Has(int slot) const { return (words_[Word(slot)] & Bit(slot)) != 0; }
  void Add(int slot) { words_[Word(slot)] |= Bit(slot); }
  void Remove(int slot) { words_[Word(slot)] &= ~Bit(slot); }  // removes a slot
  void Clear() { words_.fill(0); }                             // removes all slots
  // Cost: O(slots / 64).
  int Count() const {  // number of slots in this set
    int count = 0;
    for (const uint64_t word : words_) count += std::popcount(word);
    return count;
  }
  bool IsEmpty() const {  // true if no slot is in the set
    for (const uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  bool operator==(const SlotSet&) const = default;

  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(int slot) for each slot of the set, ascending
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(static_cast<int>(i * 64) + std::countr_zero(word));
      }
    }
  }

  void AppendBytes(std::string& out) const {  // appends the slots as the bitmap of 2048 bytes that the cluster bus uses
    std::array<char, kBytes> bytes;
    for (size_t i = 0; i < words_.size(); ++i) StoreLittle<uint64_t>(bytes.data() + i * sizeof(uint64_t), words_[i]);
    out.append(bytes.data(), bytes.size());
  }
  // Requires: bytes.size() == kBytes.
  static SlotSet FromBytes(Bytes bytes) {  // reads a bitmap that AppendBytes wrote
    SlotSet slots;
    for (size_t i = 0; i < slots.words_.size(); ++i) {
      slots.words_[i] = LoadLittle<uint64_t>(bytes.data() + i * sizeof(uint64_t));
    }
    return slots;
  }

 private:
  static size_t Word(int slot) { return static_cast<size_t>(slot) / 64; }
  static uint64_t Bit(int slot) { return uint64_t{1} << (slot % 64); }

  std::array<uint64_t, kSlotCount / 64> words_{};  // one bit for each slot
};

struct SlotRange {  // the hash slots first to last, both included
  int first;        // the lowest slot
  int last;         // the highest slot
  bool operator==(const SlotRange&) const = default;
};

inline std::vector<SlotRange> RangesOf(const SlotSet& slots) {  // the set as ranges of consecutive slots, ascending
  std::vector<SlotRange> ranges;
  slots.ForEach([&](int slot) {
    if (!ranges.empty() && ranges.back().last == slot - 1) {
      ranges.back().last = slot;
    } else {
      ranges.push_back({slot, slot});
    }
  });
  return ranges;
}

}  // namespace respite
