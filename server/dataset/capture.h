// Capture: the data of a Dataset as it was at one moment, to be brought back later.
//
// It holds every key with its value, deadlines and usage, in all databases, and the libraries of functions. Neither
// capturing nor restoring is an effect: after a Restore the append-only file must be rewritten, and replicas must be
// synchronised anew.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "datatypes/keyspace.h"
#include "server/dataset/dataset.h"
#include "server/dataset/function_store.h"

namespace respite {

// Deep copies with keys, deadlines and usage; large strings are shared. Cost: O(size).
EntryPtr CopyOf(const Entry& original);
Database CopyOf(const Database& original);

class Capture {
 public:
  // A copy; the data stays as it is. Cost: O(data), and as much memory.
  static Capture Copy(const Dataset& data);
  // Moves the data out: no key and no function is left, and listeners hear of it. Cost: O(databases + what listeners
  // do).
  static Capture Take(Dataset& data);

  // Puts the data back in place of what is there, which is returned: the caller decides where that is freed
  // (LazyFree::Free). Listeners hear that all databases lose their keys. Nothing is left in the Capture. Requires: as
  // many databases.
  Capture Restore(Dataset& data) &&;
  // The same with a copy, so that it can be restored again.
  Capture Restore(Dataset& data) const&;

  // What it holds; that part of the Capture is empty then.
  std::vector<Database> TakeDatabases() { return std::exchange(databases_, {}); }
  std::unique_ptr<FunctionStore::Content> TakeFunctions() { return std::move(functions_); }

  size_t Keys() const;
  size_t Functions() const { return functions_ == nullptr ? 0 : functions_->Functions(); }

 private:
  Capture(std::vector<Database> databases, std::unique_ptr<FunctionStore::Content> functions)
      : databases_(std::move(databases)), functions_(std::move(functions)) {}

  std::vector<Database> databases_;
  std::unique_ptr<FunctionStore::Content> functions_;  // null: none
};

}  // namespace respite
