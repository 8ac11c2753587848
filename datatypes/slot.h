// Slots of a HashIndex: 8 bytes each, trivially copyable. Slot{} means none. Two functions know a slot: SlotKey, the
// text under which it is found, and SlotMemory, what a look-up will read (null: nothing but the slot). Here they are
// for pointers to items with `Bytes Key() const`; handles that hold short texts themselves have their own (member.h).
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
