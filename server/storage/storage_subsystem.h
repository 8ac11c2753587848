// StorageSubsystem: the parts of a server that save and load its data: the append-only file, the snapshots, the
// backups, the loading, and the shutdown.
#pragma once

#include <cstdint>
#include <optional>

#include "server/execution/durability.h"
#include "server/execution/services.h"
#include "server/storage/append_only_file.h"
#include "server/storage/backup.h"
#include "server/storage/child_processes.h"
#include "server/storage/children.h"
#include "server/storage/loading.h"
#include "server/storage/offset_file.h"
#include "server/storage/rdb_contents.h"
#include "server/storage/shutdown.h"
#include "server/storage/snapshots.h"

namespace respite {

class StorageHealth final : public Durability {  // says whether writes are refused, because the data could not be saved
 public:
  struct Parts {                 // the arguments of the constructor
    const AppendOnlyFile& aof;   // the append-only file, whose errors refuse writes
    const Snapshots& snapshots;  // the saves of the RDB file, whose last failure may refuse writes
  };
  explicit StorageHealth(const Parts& parts) : parts_(parts) {}

  std::optional<Trouble> FindPersistenceTrouble() const override {  // why writes are refused; nullopt: accepted
    if (parts_.snapshots.MustRefuseWrites()) return Trouble{Trouble::Place::kSnapshot, kNoError};
    if (parts_.aof.MustTurnBackOn()) return Trouble{Trouble::Place::kJournalOff, kNoError};
    const auto error = parts_.aof.writer().WriteOrSyncError();
    if (!error) return std::nullopt;
    return Trouble{Trouble::Place::kJournal, *error};
  }
  uint64_t AppendedAofBytes() const override {  // bytes that were appended to the AOF since the start
    return parts_.aof.writer().AppendedBytes();
  }

 private:
  const Parts parts_;  // the arguments of the constructor
};

struct StorageSubsystem {  // the parts that save and load the data, and stop the server
  // `files` is the file system with the append-only file and the snapshots. In tests, this file system may fail on
  // demand (TEST FAULT).
  StorageSubsystem(const Services& services, FileSystem& files, Forker& forker);
  StorageSubsystem(const StorageSubsystem&) = delete;
  StorageSubsystem& operator=(const StorageSubsystem&) = delete;

  ChildProcesses child_processes;  // starts and kills the server's only child process
  RdbContents contents;            // decides what an RDB file contains, and in which format
  AppendOnlyFile aof;              // `appendonly yes`: keeps the data in append-only files
  Snapshots snapshots;             // saves the data as an RDB file
  OffsetFile offset_file;          // the file that keeps the replication offset over crashes
  Loading loading;                 // how far loading of the data is
  Backup backup;                   // the files of BACKUP
  Shutdown shutdown;               // SHUTDOWN: saves the data and stops the server
  StorageHealth health;            // says whether writes are refused, because the data could not be saved
};

}  // namespace respite
