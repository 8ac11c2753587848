// Loads RDB files into the keyspace: at startup, for DEBUG RELOAD, and as the base of an append-only file.
#pragma once

#include <cstdint>
#include <string>

#include "persistence/file_system.h"

namespace respite {

class Clock;
class FunctionLibraries;
class Keyspace;
class Loading;
class Logger;
struct Dataset;
struct DebugSwitches;
struct Services;
struct Session;
struct Settings;

struct RdbLoadOptions {
  // Redis: a primary drops expired keys. kKeep is for append-only files, since their later records were written while
  // the keys existed.
  enum class Expired : uint8_t { kDrop, kKeep };
  // For a key that already exists: report an invalid file, or replace the value.
  enum class Duplicates : uint8_t { kRefuse, kReplace };
  // kPrimary sets a time limit for all function libraries together. Libraries in a file were already accepted by this
  // server.
  enum class Origin : uint8_t { kFile, kPrimary };

  Expired expired = Expired::kDrop;
  Duplicates duplicates = Duplicates::kRefuse;
  Origin origin = Origin::kFile;
  uint64_t loaded_before = 0;  // bytes of other files, for Loading
};

// Destination of the data
struct LoadTarget {
  Keyspace& keyspace;
  FunctionLibraries& libraries;
};

enum class LoadOutcome : uint8_t {
  kLoaded,
  kAbsent,
  kFailed,   // the reason is logged
  kStopped,  // the server must stop
};

struct RdbLoadEnd {
  LoadOutcome outcome;
  uint64_t offset;           // of the first byte after the RDB
  std::string failure = {};  // the reason for kFailed
};

// Loads the RDB in `file` from `offset` on. `name` is for the log. Requires: loading().Active(). After a failure the
// keys loaded before it remain.
RdbLoadEnd LoadRdb(const Services& services, File& file, const std::string& name, uint64_t offset,
                   const RdbLoadOptions& options);

// Loads the RDB file at `path`. Logs why it cannot be opened.
RdbLoadEnd LoadRdbFile(const Services& services, const std::string& path, const RdbLoadOptions& options,
                       const Session* holder = nullptr);

// Loads the dump file of the server. `holder` is passed to Loading::Begin.
LoadOutcome LoadDump(const Services& services, const RdbLoadOptions& options, const Session* holder = nullptr);

}  // namespace respite
