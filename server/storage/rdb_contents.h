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

class RdbContents {  // what an RDB file contains, and its format, as the directives say
 public:
  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    const Keyspace& keyspace;
    const KeyUsage& usage;  // LRU or LFU bits of keys
    const FunctionLibraries& function_libraries;
    const MemoryGauge& memory;  // gives the value of the field used-mem
    const History& history;
  };
  explicit RdbContents(const Parts& parts) : parts_(parts) {}

  RdbContent Source(RdbPurpose purpose) const;  // the keys, functions and metadata to save
  RdbSaveOptions Options() const;               // format and fsync, as the directives say
  // Returns false while a replica lacks its primary's data. Its data may then be empty, or only what clients wrote to a
  // writable replica, so the existing file is better. Only a command of an operator saves such data.
  bool IsWorthSaving() const;  // false while a replica lacks its primary's data
  // Returns the progress callback of WriteRdb. The callback reports to `reporter` (may be null) and sleeps as
  // rdb-key-save-delay says.
  std::function<void(uint64_t)> ProgressCallback(ChildReporter* reporter) const;  // WriteRdb calls it

 private:
  const Parts parts_;  // other parts of the server that this class uses
};

}  // namespace respite
