// Durability: the interface of storage that execution uses. server/storage/ implements it.
#pragma once

#include <cstdint>
#include <optional>

#include "persistence/file_system.h"

namespace respite {

class Durability {  // interface to persistence: what execution must know of it
 public:
  virtual ~Durability() = default;
  struct Trouble {  // why writes cannot be persisted
    enum class Place : uint8_t { kSnapshot, kJournal };
    Place place;    // what fails: the snapshot or the append-only file
    IoError error;  // the error of the append-only file, for kJournal
  };
  // Returns why changes cannot be persisted at present, or nullopt if they can. While they cannot, writes must be
  // refused. Cost: two comparisons.
  virtual std::optional<Trouble> FindPersistenceTrouble() const = 0;  // nullopt: writes can be persisted
  virtual uint64_t AppendedAofBytes() const = 0;  // length of what was appended to the append-only file since the start
};

}  // namespace respite
