// RdbContents: the contents and format of an RDB file, as the directives say.
#pragma once

#include <cstdint>
#include <functional>

#include "persistence/rdb_file_writer.h"
#include "server/runtime/env.h"
#include "server/storage/children.h"

namespace respite {

class KeyUsage;
class FunctionLibraries;
struct History;
class Keyspace;
class MemoryGauge;

// What an RDB file is for. kFunctions: a snapshot that contains functions but no keys.
enum class RdbPurpose : uint8_t { kSnapshot, kAofBase, kFunctions };

class RdbContents {  // decides what an RDB file contains, and its format, by the directives
 public:
  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    const Keyspace& keyspace;                     // the keys to save
    const KeyUsage& usage;                        // LRU or LFU bits of keys
    const FunctionLibraries& function_libraries;  // the libraries to save
    const MemoryGauge& memory;                    // gives the value of the field used-mem
    const History& history;                       // the replication history, for repl-id and repl-offset
  };
  explicit RdbContents(const Parts& parts) : parts_(parts) {}

  RdbContent Source(RdbPurpose purpose) const;  // the keys, functions and metadata to save
  RdbSaveOptions Options() const;               // how WriteRdb writes: format, checksum and fsync, by the directives
  // Returns false while a replica lacks its primary's data. Its data may then be empty, or only what clients wrote to a
  // writable replica, so the existing file is better. Only a command of an operator saves such data.
  bool IsWorthSaving() const;  // false: a replica without its primary's data, so keep the old file
  // Returns the progress callback of WriteRdb. The callback reports to `reporter` (may be null) and sleeps as
  // rdb-key-save-delay says.
  std::function<void(uint64_t)> ProgressCallback(ChildReporter* reporter) const;  // WriteRdb calls it

 private:
  const Parts parts_;  // other parts of the server that this class uses
};

}  // namespace respite
