// Keyspace: the numbered databases of one server.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "datatypes/database.h"
#include "datatypes/hidden_slots.h"

namespace respite {

class Keyspace {
 public:
  // kBySlot: each database indexes its keys by hash slot, as cluster nodes need it.
  enum class Index : uint8_t { kNone, kBySlot };
  Keyspace(int databases, const HashKey& hash_key, Index index = Index::kNone) : hash_key_(hash_key), index_(index) {
    databases_.reserve(static_cast<size_t>(databases));
    for (int i = 0; i < databases; ++i) databases_.push_back(MakeDatabase());
  }

  int Count() const { return static_cast<int>(databases_.size()); }
  Index index() const { return index_; }
  Database& operator[](int index) { return databases_[static_cast<size_t>(index)]; }
  const Database& operator[](int index) const { return databases_[static_cast<size_t>(index)]; }

  // Slots that are being imported; their keys are invisible to clients.
  HiddenSlots& hidden() { return hidden_; }
  const HiddenSlots& hidden() const { return hidden_; }
  // Returns the number of keys outside hidden slots. Cost: O(1); O(hidden slots) while there are any.
  size_t VisibleSize(int index) const;
  // Returns true if no database has keys. Cost: O(databases).
  bool IsEmpty() const {
    return std::all_of(databases_.begin(), databases_.end(), [](const Database& one) { return one.Size() == 0; });
  }
  // Returns the number of keys of a slot in all databases. Requires: kBySlot. Cost: O(databases).
  size_t CountIn(int slot) const {
    size_t count = 0;
    for (const Database& one : databases_) count += one.by_slot()->Count(slot);
    return count;
  }

  void Swap(int a, int b) { std::swap((*this)[a], (*this)[b]); }
  // Empties one database and returns its content to the caller, which must free it. Cost: O(1).
  Database Detach(int index) {
    Database content = MakeDatabase();
    std::swap(content, (*this)[index]);
    return content;
  }

 private:
  Database MakeDatabase() const {
    Database made(hash_key_);
    if (index_ == Index::kBySlot) made.IndexSlots();
    return made;
  }

  HashKey hash_key_;
  Index index_;
  HiddenSlots hidden_;
  std::vector<Database> databases_;
};

inline size_t Keyspace::VisibleSize(int index) const {
  const Database& database = (*this)[index];
  if (hidden_.Empty() || database.by_slot() == nullptr) return database.Size();
  size_t visible = database.Size();
  for (const auto& [name, slots] : hidden_.All())
    slots.ForEach([&](int slot) { visible -= database.by_slot()->Count(slot); });
  return visible;
}

}  // namespace respite
