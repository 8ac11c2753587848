// Writes a data set as an RDB file; rdb_format.h has the grammar. The octets are those that Redis 7.2 gives for the
// same data, up to the order of keys; hashes with field deadlines make it a file of version 12, which Redis 7.4 reads.
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

// What goes into the file. All of it is borrowed.
struct RdbSource {
  const Keyspace& keyspace;
  std::vector<Bytes> libraries;                          // the code of each library of functions
  std::vector<std::pair<std::string, std::string>> aux;  // redis-ver, ctime …, in this order
};

// What the eviction policy knows about each key.
enum class RdbUsage : uint8_t { kNone, kIdleSeconds, kFrequency };

struct RdbSaveOptions {
  enum class Checksum : uint8_t { kZero, kCrc64 };
  using Sync = GradualSync;

  RdbCompression compression = RdbCompression::kOn;
  Checksum checksum = Checksum::kCrc64;
  Sync sync = Sync::kIncremental;
  RdbUsage usage = RdbUsage::kNone;
  // What `usage` asks for, from Entry::Access: idle seconds, or a counter up to 255. Not called with kNone.
  std::function<uint64_t(uint32_t access)> usage_of = nullptr;
  uint64_t keys_per_report = 1024;
};

struct RdbSaved {
  uint64_t octets;
  uint64_t keys;
};

// Appends to the file; what failed may have left a part. `told` (may be null) hears of each `keys_per_report` keys, how
// many there were so far; it may sleep. Cost: O(data set), in 256 KB of memory and what the longest compressed text
// takes.
Result<RdbSaved, IoError> WriteRdb(File& file, const RdbSource& source, const RdbSaveOptions& options,
                                   const std::function<void(uint64_t keys)>& told);

}  // namespace respite
