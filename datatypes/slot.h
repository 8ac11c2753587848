// Slots of a HashIndex: 8 bytes each, trivially copyable. Slot{} means none. Two functions describe a slot: SlotKey
// returns the text under which it is found, and SlotMemory the memory that a lookup will read (null: only the slot).
// The ones here are for pointers to items with `Bytes Key() const`; handles that hold short texts define their own
// (member.h).
#pragma once

#include "base/bytes.h"

namespace respite {

template <class Item>
Bytes SlotKey(Item* const& item) {
  return item->Key();
}
template <class Item>
const void* SlotMemory(Item* const& item) {
  return item;
}

}  // namespace respite
