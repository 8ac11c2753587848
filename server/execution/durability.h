// Durability: what execution asks of whoever persists data. server/storage/ answers.
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
  // Why a write had better be refused: what it does could not be persisted. Nothing when it could. Cost: two compares.
  virtual std::optional<Trouble> Troubled() const = 0;
  // Octets that the append-only file was given so far.
  virtual uint64_t JournaledOctets() const = 0;
};

}  // namespace respite
