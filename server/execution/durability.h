// Durability: what execution asks of storage. server/storage/ implements it.
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
  // Why a write must be refused: it could not be persisted. Nothing if it can be. Cost: two compares.
  virtual std::optional<Trouble> Troubled() const = 0;
  // Bytes that went to the append-only file so far.
  virtual uint64_t JournaledBytes() const = 0;
};

}  // namespace respite
