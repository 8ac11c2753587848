// StorageHealth: the state of snapshots and append-only file, for the execution of commands.
#pragma once

#include "server/execution/durability.h"
#include "server/storage/append_only_file.h"
#include "server/storage/snapshots.h"

namespace respite {

class StorageHealth final : public Durability {
 public:
  struct Parts {
    const AppendOnlyFile& aof;
    const Snapshots& snapshots;
  };
  explicit StorageHealth(const Parts& parts) : parts_(parts) {}

  std::optional<Trouble> Troubled() const override {
    if (parts_.snapshots.StopsWrites()) return Trouble{Trouble::Place::kSnapshot, kNoError};
    const auto error = parts_.aof.writer().Trouble();
    if (!error) return std::nullopt;
    return Trouble{Trouble::Place::kJournal, *error};
  }
  uint64_t JournaledBytes() const override { return parts_.aof.writer().Appended(); }

 private:
  const Parts parts_;
};

}  // namespace respite
