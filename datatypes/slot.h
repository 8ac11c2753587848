// Slots of a HashIndex: 8 bytes each, trivially copyable. Slot{} means no slot. Two functions describe a slot. SlotKey
// returns the text under which the slot is found. SlotMemory returns the memory that a lookup will read, or null if a
// lookup reads only the slot. The functions below are for pointers to items with `Bytes Key() const`; handles that hold
// short texts define their own (member.h).
#pragma once

#include <cassert>
#include <cstdint>

#include "base/bytes.h"

namespace respite {

template <class Item>
Bytes SlotKey(Item* const& item) {  // the key under which a HashIndex finds the item
  return item->Key();
}
template <class Item>
const void* SlotMemory(Item* const& item) {  // the memory that a lookup will read, for prefetching
  return item;
}

// A slot as a HashIndex stores it, in 8 bytes. A pointer leaves 19 bits for a hint, which are bits of the hash:
// processors use 48 bits of an address, and Linux returns longer addresses only on request; the lowest three bits of an
// item's address are zero. Handles leave no room for a hint.
inline constexpr int kSlotHintBits = 19;  // number of bits of the hash that fit next to a pointer

template <class Slot>
class SlotCell {  // a slot of a HashIndex and a hint, in 8 bytes
 public:
  static constexpr bool kHasHint = false;  // a handle such as Member leaves no bits for a hint

  const Slot& Get() const { return slot_; }
  uint32_t Hint() const { return 0; }
  void Set(const Slot& slot, uint32_t /*hint*/) { slot_ = slot; }
  // Replaces the slot and keeps the hint.
  void Replace(const Slot& slot) { slot_ = slot; }

 private:
  Slot slot_;
};

template <class Item>
class SlotCell<Item*> {
 public:
  static constexpr bool kHasHint = true;

  Item* Get() const { return reinterpret_cast<Item*>(word_ << kSlotHintBits >> (kSlotHintBits - kZeroBits)); }
  uint32_t Hint() const { return static_cast<uint32_t>(word_ >> kAddressBits); }
  void Set(Item* item, uint32_t hint) {
    word_ = reinterpret_cast<uintptr_t>(item) >> kZeroBits | uint64_t{hint} << kAddressBits;
    assert(Get() == item && Hint() == hint);
  }
  void Replace(Item* item) { Set(item, Hint()); }  // stores another pointer, and keeps the hint

 private:
  static constexpr int kAddressBits = 64 - kSlotHintBits;  // number of bits that a pointer uses
  static constexpr int kZeroBits = 3;  // low bits of an address that are not stored, as they are zero
  static_assert(sizeof(Item*) == sizeof(uint64_t));

  uint64_t word_;
};

}  // namespace respite
