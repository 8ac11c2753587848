// Keyspace: the numbered databases of one server.
#pragma once

#include <utility>
#include <vector>

#include "datatypes/database.h"

namespace respite {

class Keyspace {
 public:
  Keyspace(int databases, const HashKey& hash_key) : hash_key_(hash_key) {
    databases_.reserve(static_cast<size_t>(databases));
    for (int i = 0; i < databases; ++i) databases_.emplace_back(hash_key);
  }

  int Count() const { return static_cast<int>(databases_.size()); }
  Database& operator[](int index) { return databases_[static_cast<size_t>(index)]; }
  const Database& operator[](int index) const { return databases_[static_cast<size_t>(index)]; }

  void Swap(int a, int b) { std::swap((*this)[a], (*this)[b]); }
  // Empties one database and returns its content to the caller, who decides where it is freed. Cost: O(1).
  Database Detach(int index) {
    Database content(hash_key_);
    std::swap(content, (*this)[index]);
    return content;
  }

 private:
  HashKey hash_key_;
  std::vector<Database> databases_;
};

}  // namespace respite
