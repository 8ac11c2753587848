// Durability: the interface of storage that execution uses. server/storage/ implements it.
#pragma once

#include <cstdint>
#include <optional>

#include "persistence/file_system.h"

namespace respite {

class Durability {
 public:
  virtual ~Durability() = default;
  struct Trouble {
    enum class Place : uint8_t { kSnapshot, kJournal };
    Place place;
    IoError error;  // of the journal
  };
  // Returns why writes must be refused because they could not be persisted, or nullopt. Cost: two comparisons.
  virtual std::optional<Trouble> Troubled() const = 0;
  // Returns the number of bytes appended to the append-only file so far.
  virtual uint64_t JournaledBytes() const = 0;
};

}  // namespace respite
