// StorageSubsystem: the files of a Node: append-only file, snapshots, loading; and the shutdown, which saves them.
#pragma once

#include "server/execution/services.h"
#include "server/storage/append_only_file.h"
#include "server/storage/child_processes.h"
#include "server/storage/children.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_contents.h"
#include "server/storage/shutdown.h"
#include "server/storage/snapshots.h"
#include "server/storage/storage_health.h"

namespace respite {

struct StorageSubsystem {
  // The append-only file and snapshots are in `files`, which may fail on demand of a test (TEST FAULT).
  StorageSubsystem(const Services& services, FileSystem& files, Forker& forker);
  StorageSubsystem(const StorageSubsystem&) = delete;
  StorageSubsystem& operator=(const StorageSubsystem&) = delete;

  ChildProcesses child_processes;
  RdbContents contents;
  AppendOnlyFile aof;
  Snapshots snapshots;
  Loading loading;
  Shutdown shutdown;
  StorageHealth health;
};

}  // namespace respite
