// SlotIndex: the keys of a database by cluster hash slot. Databases of a server without cluster mode have no such
// index.
//
// Cost: a pointer for each of the 16384 slots once there is a key, and a table for each slot that has keys.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/key_slot.h"
#include "datatypes/entry.h"
#include "datatypes/hash_index.h"

namespace respite {

class SlotIndex {  // finds the keys of each cluster hash slot in one database
 public:
  explicit SlotIndex(const HashKey& hash_key) : hash_key_(hash_key) {}

  void Insert(Entry* entry, uint64_t hash) {  // adds a key; requires: the key is not in the index
    if (keys_by_slot_.empty()) keys_by_slot_.resize(kSlotCount);
    auto& slot = keys_by_slot_[SlotOf(entry->Key())];
    if (slot == nullptr) slot = std::make_unique<Keys>(hash_key_);
    slot->Insert(entry, hash);
  }
  void Remove(Bytes key, uint64_t hash) {  // removes a key; requires: the key is in the index
    auto& slot = keys_by_slot_[SlotOf(key)];
    slot->Remove(key, hash);
    if (slot->Size() == 0) slot.reset();
  }
  void Replace(Entry* from, Entry* to, uint64_t hash) {  // updates the address of a key's entry, which has moved
    keys_by_slot_[SlotOf(to->Key())]->Replace(from, to, hash);
  }
  void Clear() {  // removes all keys from the index
    for (auto& slot : keys_by_slot_) slot.reset();
  }

  size_t Count(int slot) const {  // number of keys in the hash slot
    const Keys* const keys = KeysOf(slot);
    return keys == nullptr ? 0 : keys->Size();
  }
  template <class Visit>
  void ForEachWhile(int slot, Visit&& visit) const {  // visits the keys of a slot until visit(const Entry*) is false
    const Keys* const keys = KeysOf(slot);
    if (keys != nullptr) keys->ForEachWhile(visit);
  }
  // Returns at most `limit` keys of the slot, in unspecified order. Cost: O(keys returned).
  std::vector<std::string> Some(int slot, size_t limit) const {
    std::vector<std::string> some;
    const Keys* const keys = KeysOf(slot);
    if (keys == nullptr || limit == 0) return some;
    uint64_t cursor = 0;
    do {
      cursor = keys->Scan(cursor, [&](const Entry* entry) {
        if (some.size() < limit) some.emplace_back(entry->Key());
      });
    } while (cursor != 0 && some.size() < limit);
    return some;
  }

  // Keys contains the keys of one hash slot. A hash slot without keys has a null pointer in keys_by_slot_.
  using Keys = HashIndex<Entry*>;
  const Keys* KeysOf(int slot) const {  // the keys of this slot; null: there are none
    return keys_by_slot_.empty() ? nullptr : keys_by_slot_[static_cast<size_t>(slot)].get();
  }

 private:
  static size_t SlotOf(Bytes key) {  // the hash slot of the key, as an index in keys_by_slot_
    return static_cast<size_t>(KeySlot(key));
  }

  HashKey hash_key_;                                 // the secret key of the hash function
  std::vector<std::unique_ptr<Keys>> keys_by_slot_;  // by hash slot; empty until there is a key
};

}  // namespace respite
