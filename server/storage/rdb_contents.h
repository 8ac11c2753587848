// RdbContents: decides, by the directives, what an RDB file contains and which format it has.
#pragma once

#include <cstdint>
#include <functional>

#include "base/bytes.h"
#include "persistence/rdb_file_writer.h"
#include "server/runtime/env.h"
#include "server/storage/children.h"

namespace respite {

class KeyUsage;
class FunctionLibraries;
struct History;
class Keyspace;
class MemoryGauge;

// The purpose of an RDB file. kSnapshot: a dump, or a snapshot for replicas. kAofBase: the base of an append-only file.
// kFunctions: a snapshot that contains functions but no keys.
enum class RdbPurpose : uint8_t { kSnapshot, kAofBase, kFunctions };  // what an RDB file is for

// Aux fields of Respite's own, which Redis and Valkey ignore. kReplPrimaryAux: "host:port" of the primary, if a replica
// wrote the file and its history was confirmed. kLocalWritesAux: 1 if History::has_local_writes is true.
inline constexpr Bytes kReplPrimaryAux = "respite-primary";       // aux field: the primary whose history the file has
inline constexpr Bytes kLocalWritesAux = "respite-local-writes";  // aux field: changes that are not in the history

class RdbContents {  // decides what an RDB file contains, and in which format
 public:
  struct Parts {  // the arguments of the constructor
    const Env& env;
    const Keyspace& keyspace;                     // all databases, whose keys are saved
    const KeyUsage& usage;                        // LRU or LFU bits of keys
    const FunctionLibraries& function_libraries;  // all function libraries, which are also saved
    const MemoryGauge& memory;                    // measures memory, for the field used-mem
    const History& history;                       // replication ID and offset, for repl-id and repl-offset
  };
  explicit RdbContents(const Parts& parts) : parts_(parts) {}

  RdbContent ContentFor(RdbPurpose purpose) const;  // which keys, libraries and aux fields to save
  RdbSaveOptions Options() const;                   // format, checksum and fsync, by the directives
  // Returns whether the data may replace the dump file. Returns false on a replica that does not have its primary's
  // data: its data may be empty, or only what clients wrote to a writable replica. Such data is saved only if an
  // operator's command asks for it.
  bool IsWorthSaving() const;  // false: a replica without its primary's data, so keep the old file
  // Returns a callback that WriteRdb calls with the number of written keys. The callback reports this number to
  // `reporter` (may be null), and sleeps as rdb-key-save-delay says.
  std::function<void(uint64_t)> ProgressCallback(ChildReporter* reporter) const;  // reports written keys, and sleeps

 private:
  const Parts parts_;  // the arguments of the constructor
};

}  // namespace respite
