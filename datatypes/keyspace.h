// Keyspace: the numbered databases of one server.
#pragma once

#include <utility>
#include <vector>

#include "datatypes/database.h"

namespace respite {

class Keyspace {
 public:
  // kBySlot: each database has an index of its keys by hash slot, as nodes of a cluster need it.
  enum class Index : uint8_t { kNone, kBySlot };
  Keyspace(int databases, const HashKey& hash_key, Index index = Index::kNone) : hash_key_(hash_key), index_(index) {
    databases_.reserve(static_cast<size_t>(databases));
    for (int i = 0; i < databases; ++i) databases_.push_back(MakeDatabase());
  }

  int Count() const { return static_cast<int>(databases_.size()); }
  Database& operator[](int index) { return databases_[static_cast<size_t>(index)]; }
  const Database& operator[](int index) const { return databases_[static_cast<size_t>(index)]; }

  void Swap(int a, int b) { std::swap((*this)[a], (*this)[b]); }
  // Empties one database and returns its content to the caller, who decides where it is freed. Cost: O(1).
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
  std::vector<Database> databases_;
};

}  // namespace respite
