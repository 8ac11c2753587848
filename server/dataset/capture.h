// Capture: the data of a Dataset at one moment, to be restored later.
//
// A Capture contains all databases and the function libraries. Each key has its value, its deadline, and its LRU or LFU
// bits (usage). Capturing and restoring are not propagated. After a Take or a Restore, the append-only file must be
// rewritten and replicas must be resynchronised.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "datatypes/keyspace.h"
#include "server/dataset/dataset.h"

namespace respite {

// Returns a deep copy of the entry with its key, deadline and LRU or LFU bits. A large string is shared, not copied.
// Cost: O(size).
EntryPtr CopyOf(const Entry& original);     // a deep copy of one key with its value
Database CopyOf(const Database& original);  // a deep copy of all keys

class Capture {  // all keys and functions of a Dataset at one moment, to be restored later
 public:
  // Moves the data out of `data`, which has no keys and functions afterwards. Listeners are notified before. Cost:
  // O(databases), in addition to the work of the listeners.
  static Capture Take(Dataset& data);

  // Replaces the current data of `data` by the captured data, and returns the old data, which the caller frees
  // (LazyFree::Free). Before, listeners are notified that all databases lose their keys. The Capture is empty
  // afterwards. Requires: `data` has as many databases as the Capture.
  Capture Restore(Dataset& data) &&;  // replaces the current data of `data`, and returns the old

  // TakeDatabases and TakeFunctions remove the databases or the functions from the Capture, and return them.
  std::vector<Database> TakeDatabases() { return std::exchange(databases_, {}); }  // moves the captured keys out
  std::unique_ptr<FunctionStore::Content> TakeFunctions() {  // moves the captured functions out; may be null
    return std::move(functions_);
  }

  size_t Keys() const;            // number of captured keys
  size_t FunctionCount() const {  // number of captured functions
    return functions_ == nullptr ? 0 : functions_->FunctionCount();
  }
  bool FunctionsMayBeFreedByOtherThread() const {  // false: a snapshot uses the Lua state of these functions
    return functions_ == nullptr || functions_->MayBeFreedByOtherThread();
  }

 private:
  Capture(std::vector<Database> databases, std::unique_ptr<FunctionStore::Content> functions)
      : databases_(std::move(databases)), functions_(std::move(functions)) {}

  std::vector<Database> databases_;                    // the captured keys
  std::unique_ptr<FunctionStore::Content> functions_;  // the captured functions of FCALL; null: there are none
};

}  // namespace respite
