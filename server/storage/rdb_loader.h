// Loads RDB files into the keyspace: at startup, for DEBUG RELOAD, as the base of an append-only file, and as a fixture
// (data for tests). Also loads the snapshot that a replica has received from its primary as a file.
#pragma once

#include <cstdint>
#include <string>

#include "persistence/file_system.h"
#include "server/storage/keyspace_sink.h"

namespace respite {

struct Services;
struct Session;

enum class LoadOutcome : uint8_t {  // how loading has ended
  kLoaded,
  kAbsent,
  kFailed,   // the reason is logged
  kStopped,  // the server must stop
};

struct RdbLoadResult {       // how the loading of an RDB has ended
  LoadOutcome outcome;       // whether the file was loaded, was missing, was bad, or loading had to stop
  uint64_t offset;           // position in the file after the RDB; not loaded: where the RDB begins
  std::string failure = {};  // why loading failed, if `outcome` is kFailed
};

// Loads the RDB that begins at `offset` in `file`. `name` is for the log. Requires: loading().IsActive(). After a
// failure, the keys before the damaged place stay loaded.
RdbLoadResult LoadRdb(const Services& services, File& file,  // loads the RDB at `offset` in an open file
                      const std::string& name, uint64_t offset, const RdbLoadOptions& options);

// Loads the RDB file at `path`, or returns kAbsent if there is none. If the file cannot be opened, logs the reason.
// `holder` is the client whose command loads (may be null); see Loading::Begin.
RdbLoadResult LoadRdbFile(const Services& services, const std::string& path,  // loads the RDB file at `path`
                          const RdbLoadOptions& options, const Session* holder = nullptr);

// Loads the server's dump file (dbfilename). `holder`: the client whose command loads the file, from which the server
// reads no input meanwhile; null: no client.
LoadOutcome LoadDump(const Services& services, const RdbLoadOptions& options,  // loads the RDB file `dbfilename`
                     const Session* holder = nullptr);

}  // namespace respite
