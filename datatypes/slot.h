// A slot is what a HashIndex stores for each item, in 8 bytes: a pointer to the item, or a handle that can contain a
// short text itself (Member, in member.h). Slots are trivially copyable; Slot{} means that there is no item. HashIndex
// needs two functions for a type of slots. SlotKey returns the key of the item. SlotMemory returns the memory that a
// lookup will read, or null if a lookup reads only the slot. This file defines both functions for pointers to items
// with a function Key(); member.h defines them for Member.
#pragma once

#include <cassert>
#include <cstdint>

#include "base/bytes.h"

namespace respite {

template <class Item>
Bytes SlotKey(Item* const& item) {  // tells HashIndex the key of an item
  return item->Key();
}
template <class Item>
const void* SlotMemory(Item* const& item) {  // tells HashIndex what to prefetch for an item
  return item;
}

inline constexpr int kSlotHintBits = 18;  // number of bits of the hash that fit next to a pointer

// SlotCell is a slot as a HashIndex stores it, in 8 bytes. A pointer leaves 18 bits for a hint, which are bits of the
// hash. Processors use 48 bits of an address, and the lowest two bits of an item's address are zero. (Linux returns
// longer addresses only on request.) A handle leaves no room for a hint.
template <class Slot>
class SlotCell {  // 8 bytes: a Slot; if it is a pointer, also some bits of its key's hash (the hint)
 public:
  static constexpr bool kHasHint = false;  // a handle such as Member leaves no bits for a hint

  const Slot& Get() const { return slot_; }
  bool IsEmpty() const { return !slot_; }
  uint32_t Hint() const { return 0; }
  void Set(const Slot& slot, uint32_t /*hint*/) { slot_ = slot; }
  void Replace(const Slot& slot) { slot_ = slot; }  // stores another slot; there is no hint to keep

 private:
  Slot slot_;
};

template <class Item>
class SlotCell<Item*> {  // 8 bytes: a pointer to an item, and 18 bits of its key's hash (the hint)
 public:
  static constexpr bool kHasHint = true;  // true: a cell with a pointer also stores some bits of the hash

  Item* Get() const { return reinterpret_cast<Item*>(word_ << kSlotHintBits >> (kSlotHintBits - kZeroBits)); }
  bool IsEmpty() const { return word_ == 0; }  // true: no item; only such a cell has a null pointer
  uint32_t Hint() const { return static_cast<uint32_t>(word_ >> kAddressBits); }
  void Set(Item* item, uint32_t hint) {
    word_ = reinterpret_cast<uintptr_t>(item) >> kZeroBits | uint64_t{hint} << kAddressBits;
    assert(Get() == item && Hint() == hint);
  }
  void Replace(Item* item) { Set(item, Hint()); }  // stores another pointer; keeps the hint

 private:
  static constexpr int kAddressBits = 64 - kSlotHintBits;  // number of bits that a pointer uses
  static constexpr int kZeroBits = 2;  // low bits of an address that are always zero, and not stored
  static_assert(sizeof(Item*) == sizeof(uint64_t));

  uint64_t word_ = 0;
};

}  // namespace respite
