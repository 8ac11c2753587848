// Capture: the keys of a Dataset as they were at one moment, to be brought back later.
//
// It holds every key with its value, deadlines and usage, in all databases; functions belong to their libraries.
// Neither capturing nor restoring is an effect: who keeps a record of the data (an append-only file, replicas) must
// make it anew after a Restore.
#pragma once

#include <utility>
#include <vector>

#include "datatypes/keyspace.h"
#include "server/dataset/dataset.h"

namespace respite {

class Capture {
 public:
  // A copy; the data stays as it is. Cost: O(data), and as much memory.
  static Capture Copy(const Dataset& data);
  // Moves the data out: all databases are empty then, and listeners hear of it. Cost: O(databases + what listeners do).
  static Capture Take(Dataset& data);

  // Puts the data back in place of what is there, which is returned: the caller decides where that is freed. Listeners
  // hear that all databases lose their keys. Nothing is left in the Capture. Requires: as many databases.
  std::vector<Database> Restore(Dataset& data) &&;
  // The same with a copy, so that it can be restored again.
  std::vector<Database> Restore(Dataset& data) const&;

  // The databases; nothing is left in the Capture.
  std::vector<Database> Release() && { return std::exchange(databases_, {}); }

  size_t Keys() const;

 private:
  explicit Capture(std::vector<Database> databases) : databases_(std::move(databases)) {}

  std::vector<Database> databases_;
};

}  // namespace respite
