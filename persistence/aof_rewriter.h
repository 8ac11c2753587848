// Writes a data set as commands: the base of an append-only file with `aof-use-rdb-preamble no`.
//
//   base = ["#TS:" seconds CRLF] prologue { FUNCTION LOAD code } { SELECT n, keys }
//
// `prologue` is any requests that must come first: CLUSTER SYNCSLOTS ESTABLISH, if a migration hides slots. There is
// one FUNCTION LOAD for each library, and one SELECT for each database with keys. value_commands.h says which commands
// write a key.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "datatypes/keyspace.h"
#include "persistence/file_system.h"
#include "persistence/gradual_writer.h"

namespace respite {

struct AofBaseOptions {                               // how WriteAofBaseAsCommands writes the data set as commands
  GradualSync sync = GradualSync::kIncremental;       // kIncremental: WriteAofBaseAsCommands also syncs every 32 MB
  std::optional<int64_t> timestamp_s = std::nullopt;  // Unix time in s for a first line "#TS:…"; nullopt: no line
  Bytes prologue = {};              // requests to write first (CLUSTER SYNCSLOTS ESTABLISH), in RESP; empty: none
  uint64_t keys_per_report = 1024;  // number of keys between two progress reports (calls of `on_progress`)
};

struct AofBaseSaveResult {  // how much WriteAofBaseAsCommands has written
  uint64_t bytes;           // number of bytes written to the file
  uint64_t keys;            // number of keys written
};

// Appends the data set to the file. Does not sync the last bytes; the caller can. After an error, some of the output
// may have been written. `libraries` are the source codes of function libraries. `on_progress` (may be null) is called
// after each `keys_per_report` keys with the number of keys so far; `on_progress` may sleep. Cost: O(data set), in 64
// KB of memory.
Result<AofBaseSaveResult, IoError> WriteAofBaseAsCommands(File& file,  // appends the data set to a file
                                                          const Keyspace& keyspace, std::span<const Bytes> libraries,
                                                          const AofBaseOptions& options,
                                                          const std::function<void(uint64_t keys)>& on_progress);

}  // namespace respite
