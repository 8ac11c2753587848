// Loads RDB files into the keyspace: at the start, for DEBUG RELOAD, and as the base of an append-only file.
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

// What loading an RDB needs of a server.
struct RdbLoadParts {
  RdbLoadParts(const Services& services);  // NOLINT: implicit on purpose

  const Settings& settings;
  const DebugSwitches& debug;
  const Clock& clock;
  Logger& log;
  FileSystem& files;
  Dataset& data;
  FunctionLibraries& function_libraries;
  Loading& loading;
};

struct RdbLoadOptions {
  // Redis: a primary drops expired keys. kKeep is for append-only files, whose later records were written while the
  // keys existed.
  enum class Expired : uint8_t { kDrop, kKeep };
  // What to do about a key that exists: report an invalid file, or replace the value.
  enum class Duplicates : uint8_t { kRefuse, kReplace };
  // Only the function libraries of a primary have a time limit together: those of a file were accepted here.
  enum class Origin : uint8_t { kFile, kPrimary };

  Expired expired = Expired::kDrop;
  Duplicates duplicates = Duplicates::kRefuse;
  Origin origin = Origin::kFile;
  uint64_t loaded_before = 0;  // bytes of other files, for Loading
};

// Where the data goes.
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
  uint64_t offset;           // after the RDB
  std::string failure = {};  // with kFailed: why
};

// Loads the RDB in `file` from `offset` on; `name` is for the log. Requires: loading().Active(). After a failure the
// keys loaded before it remain.
RdbLoadEnd LoadRdb(const RdbLoadParts& parts, File& file, const std::string& name, uint64_t offset,
                   const RdbLoadOptions& options);

// Loads the RDB file at `path`. Logs why it cannot be opened.
RdbLoadEnd LoadRdbFile(const RdbLoadParts& parts, const std::string& path, const RdbLoadOptions& options,
                       const Session* holder = nullptr);

// Loads the dump file of the server. `holder` as for Loading::Begin.
LoadOutcome LoadDump(const RdbLoadParts& parts, const RdbLoadOptions& options, const Session* holder = nullptr);

}  // namespace respite
