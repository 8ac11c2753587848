// Loads the file that the directive `preload-file` names, instead of the server's own files: to restore a backup.
//
//   preload-file aof:/backups/appendonly.aof.manifest   the files that the manifest names, in its folder
//   preload-file aof:/backups/old.aof                   one append-only file, as Redis before version 7 has it
//   preload-file rdb:/backups/dump.rdb
//
// All files are checked before the first one is loaded, and none is changed. Afterwards the server keeps its data as
// usual: with appendonly, its own append-only file is replaced by the loaded data before it serves clients.
#pragma once

#include "server/storage/rdb_loader.h"

namespace respite {

struct Services;

// Loads the file that the directive preload-file names. Returns kFailed if files are missing or damaged; the reason was
// logged. Requires: the keyspace is empty, and AppendOnlyFile::Prepare was called.
LoadOutcome LoadPreloadFile(const Services& services);  // loads what preload-file names

}  // namespace respite
