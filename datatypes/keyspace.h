// Keyspace: the numbered databases of one server. HiddenSlots: the hash slots that a cluster node is importing; clients
// do not see their keys yet.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/slot_set.h"
#include "datatypes/database.h"

namespace respite {

// HiddenSlots are hash slots that this node is importing from another node of the cluster. Their keys are in the
// databases, but are invisible until this node owns the slots. KEYS, SCAN, RANDOMKEY and DBSIZE skip the keys of these
// slots, and the server does not expire or evict these keys.
class HiddenSlots {  // hash slots that this node is importing; clients do not see their keys yet
 public:
  // Sets of hidden slots, by the name of the migration that imports the slots. No slot is in two sets.
  using Sets = std::map<std::string, SlotSet, std::less<>>;

  // Hides the slots of a new set with this name. If another set already hides one of the slots, the slot stays in that
  // set; this happens only with a damaged file. Does nothing if a set with this name exists.
  void Hide(std::string name, SlotSet slots) {
    if (sets_.contains(name)) return;
    if (all_ == nullptr) all_ = std::make_unique<SlotSet>();
    all_->ForEach([&](int slot) { slots.Remove(slot); });
    if (slots.IsEmpty()) return;
    slots.ForEach([&](int slot) { all_->Add(slot); });
    sets_.emplace(std::move(name), slots);
  }
  // Does nothing if no import has this name.
  void Reveal(Bytes name) {  // makes the slots of the import `name` visible
    const auto found = sets_.find(name);
    if (found == sets_.end()) return;
    found->second.ForEach([&](int slot) { all_->Remove(slot); });
    sets_.erase(found);
  }
  void Clear() { *this = HiddenSlots(); }  // makes the slots of all imports visible

  bool IsEmpty() const { return sets_.empty(); }  // true: no slot is being imported
  const Sets& All() const { return sets_; }       // the hidden slots of each import, by its name
  bool Has(int slot) const {                      // true: the slot is being imported, so its keys are hidden
    return all_ != nullptr && all_->Has(slot);
  }
  bool HasKey(Bytes key) const { return !sets_.empty() && Has(KeySlot(key)); }  // true: the key's slot is hidden

 private:
  Sets sets_;                     // the hidden slots of each import, by its name; none is empty
  std::unique_ptr<SlotSet> all_;  // the slots of all sets; null: there was no set yet
};

class Keyspace {  // all keys of a server, in numbered databases
 public:
  // Says whether each database has an index of its keys by hash slot, which a cluster node needs.
  enum class Index : uint8_t { kNone, kBySlot };
  Keyspace(int databases, const HashKey& hash_key, Index index = Index::kNone) : hash_key_(hash_key), index_(index) {
    databases_.reserve(static_cast<size_t>(databases));
    for (int i = 0; i < databases; ++i) databases_.push_back(MakeDatabase());
  }

  int Count() const { return static_cast<int>(databases_.size()); }  // number of databases
  Index index() const { return index_; }  // whether each database indexes its keys by hash slot
  Database& operator[](int index) { return databases_[static_cast<size_t>(index)]; }
  const Database& operator[](int index) const { return databases_[static_cast<size_t>(index)]; }

  HiddenSlots& hidden() { return hidden_; }              // the slots being imported, whose keys clients do not see
  const HiddenSlots& hidden() const { return hidden_; }  // the slots being imported, whose keys clients do not see
  // Cost: O(1), or O(hidden slots) if there are any.
  size_t VisibleKeyCount(int index) const;  // number of keys of database `index`, without keys in hidden slots
  // Cost: O(databases).
  bool IsEmpty() const {  // true: all databases are without keys
    return std::all_of(databases_.begin(), databases_.end(), [](const Database& one) { return one.Size() == 0; });
  }
  // Cost: O(databases).
  size_t CountKeysInSlot(int slot) const {  // number of keys of a slot in all databases; requires: Index::kBySlot
    size_t count = 0;
    for (const Database& one : databases_) count += one.by_slot()->Count(slot);
    return count;
  }

  void Swap(int a, int b) { std::swap((*this)[a], (*this)[b]); }
  // The caller must free the returned content. Cost: O(1).
  Database Detach(int index) {  // empties database `index`, and returns its former content
    Database content = MakeDatabase();
    std::swap(content, (*this)[index]);
    return content;
  }

 private:
  Database MakeDatabase() const {  // makes an empty database with this hash key and kind of index, and with a pool
    Database made(hash_key_);
    made.EnablePool();
    if (index_ == Index::kBySlot) made.EnableSlotIndex();
    return made;
  }

  HashKey hash_key_;                 // the secret key of the hash functions of all databases
  Index index_;                      // whether each database indexes its keys by hash slot
  HiddenSlots hidden_;               // slots being imported, whose keys clients do not see
  std::vector<Database> databases_;  // databases_[n] is the database n (SELECT n)
};

inline size_t Keyspace::VisibleKeyCount(int index) const {  // keys of a database, without slots being imported
  const Database& database = (*this)[index];
  if (hidden_.IsEmpty() || database.by_slot() == nullptr) return database.Size();
  size_t visible = database.Size();
  for (const auto& [name, slots] : hidden_.All())
    slots.ForEach([&](int slot) { visible -= database.by_slot()->Count(slot); });
  return visible;
}

}  // namespace respite
