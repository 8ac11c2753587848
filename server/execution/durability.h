// Durability: tells whether writes can be persisted. An interface that server/storage/ implements for
// server/execution/.
#pragma once

#include <cstdint>
#include <optional>

#include "persistence/file_system.h"

namespace respite {

class Durability {  // interface: tells whether writes can be persisted
 public:
  virtual ~Durability() = default;
  struct Trouble {  // why writes cannot be persisted
    // kSnapshot: the snapshot fails. kJournal: the append-only file cannot be written. kJournalOff: the append-only
    // file cannot be turned on again after a synchronisation.
    enum class Place : uint8_t { kSnapshot, kJournal, kJournalOff };
    Place place;    // what fails
    IoError error;  // for kJournal: the error of the append-only file; otherwise kNoError
  };
  // Returns why changes cannot be persisted at present, so that writes must be refused. Returns nullopt if changes can
  // be persisted. Cost: two comparisons.
  virtual std::optional<Trouble> FindPersistenceTrouble() const = 0;  // why writes cannot be persisted, or nullopt
  virtual uint64_t AppendedAofBytes() const = 0;  // bytes appended to the append-only file since the start
};

}  // namespace respite
