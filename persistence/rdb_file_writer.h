// Writes a data set as an RDB file; rdb_format.h has the grammar. Redis 7.2 writes the same bytes for the same data,
// except for the order of keys. If hashes have field deadlines, the file has version 12, which Redis 7.4 reads. Values
// that only later versions of Redis have (arrays, vector sets, JSON, streams with idempotent production) are written as
// these versions do; older ones cannot read them.
//
//   auto file = files.Open(temporary, FileSystem::Mode::kCreate);
//   auto saved = WriteRdb(*file.value(), {keyspace, libraries, aux}, {.compression = RdbCompression::kOn}, {});
//   … then the caller syncs the file, renames it and syncs the directory
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "datatypes/keyspace.h"
#include "persistence/file_system.h"
#include "persistence/gradual_writer.h"
#include "persistence/rdb_output.h"

namespace respite {

struct RdbContent {                                      // what WriteRdb writes; keyspace and libraries are borrowed
  const Keyspace& keyspace;                              // the data set to save
  std::vector<Bytes> libraries;                          // the source code of each function library
  std::vector<std::pair<std::string, std::string>> aux;  // redis-ver, ctime …, in this order
  enum class Keys : uint8_t { kAll, kNone };
  Keys keys = Keys::kAll;  // kNone: the file contains no keys, only aux fields and libraries
};

// Which eviction data of each key to write: the time since its last use (LRU), or its counter of uses (LFU).
enum class RdbUsage : uint8_t { kNone, kIdleSeconds, kFrequency };

struct RdbSaveOptions {  // how WriteRdb writes the file
  enum class Checksum : uint8_t { kZero, kCrc64 };
  using Sync = GradualSync;

  RdbCompression compression = RdbCompression::kOn;  // whether texts are compressed (rdbcompression)
  RdbDialect dialect = RdbDialect::k72;              // k70: stores values as Redis 7.0 does; k72: as Redis 7.2 does
  Checksum checksum = Checksum::kCrc64;              // kZero: no checksum, as with `rdbchecksum no`
  Sync sync = Sync::kIncremental;                    // kIncremental: WriteRdb also syncs every 32 MB
  RdbUsage usage = RdbUsage::kNone;                  // which eviction data of keys to write: none, LRU or LFU
  // Converts the access data of an entry, Entry::Access(). Returns the seconds since the last use (if `usage` is
  // kIdleSeconds) or a counter up to 255 (if kFrequency). Not called if `usage` is kNone.
  std::function<uint64_t(uint32_t access)> usage_from_access =  // converts Entry::Access() to idle seconds or counter
      nullptr;
  uint64_t keys_per_report = 1024;  // number of keys between two progress reports (calls of `on_progress`)
};

struct RdbSaveResult {  // how much WriteRdb has written
  uint64_t bytes;       // number of bytes written to the file
  uint64_t keys;        // number of keys written
};

// Appends the RDB to the file. Does not sync the last bytes; the caller can. After an error, some of the output may
// have been written. `on_progress` (may be null) is called after each `keys_per_report` keys with the number of keys so
// far; `on_progress` may sleep. Cost: O(data set), in 256 KB of memory plus the longest compressed text.
Result<RdbSaveResult, IoError> WriteRdb(File& file, const RdbContent& content,  // writes the data set as an RDB
                                        const RdbSaveOptions& options,
                                        const std::function<void(uint64_t keys)>& on_progress);

}  // namespace respite
