// StorageSubsystem: the parts of a node that save and load its data: the append-only file, the snapshots, the loading,
// and the shutdown.
#pragma once

#include <cstdint>
#include <optional>

#include "server/execution/durability.h"
#include "server/execution/services.h"
#include "server/storage/append_only_file.h"
#include "server/storage/child_processes.h"
#include "server/storage/children.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_contents.h"
#include "server/storage/shutdown.h"
#include "server/storage/snapshots.h"

namespace respite {

class StorageHealth final : public Durability {  // says whether writes must be refused, because of a failed save
 public:
  struct Parts {                 // other parts of the server that this class uses
    const AppendOnlyFile& aof;   // its errors refuse writes
    const Snapshots& snapshots;  // its last failure may refuse writes
  };
  explicit StorageHealth(const Parts& parts) : parts_(parts) {}

  std::optional<Trouble> FindPersistenceTrouble() const override {  // why writes are refused; nullopt: accepted
    if (parts_.snapshots.MustRefuseWrites()) return Trouble{Trouble::Place::kSnapshot, kNoError};
    const auto error = parts_.aof.writer().WriteOrSyncError();
    if (!error) return std::nullopt;
    return Trouble{Trouble::Place::kJournal, *error};
  }
  uint64_t AppendedAofBytes() const override { return parts_.aof.writer().AppendedBytes(); }  // since the start

 private:
  const Parts parts_;  // other parts of the server that this class uses
};

struct StorageSubsystem {  // the files of a node: append-only file, snapshots, loading, shutdown
  // `files` is the file system with the append-only file and the snapshots. In tests it may fail on demand (TEST
  // FAULT).
  StorageSubsystem(const Services& services, FileSystem& files, Forker& forker);
  StorageSubsystem(const StorageSubsystem&) = delete;
  StorageSubsystem& operator=(const StorageSubsystem&) = delete;

  ChildProcesses child_processes;  // the one child that may run
  RdbContents contents;            // what an RDB file contains
  AppendOnlyFile aof;              // the append-only file
  Snapshots snapshots;             // saves RDB files
  Loading loading;                 // the state while data is loaded
  Shutdown shutdown;               // saves the data and stops the server
  StorageHealth health;            // says whether writes must be refused
};

}  // namespace respite
