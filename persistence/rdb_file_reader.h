// Reads an RDB file, or the RDB part at the beginning of an AOF, of versions 1 to 12 (rdb_format.h has the grammar).
//
//   auto end = ReadRdb(file, 0, {.limits = limits, .hash_key = hash_key}, sink);
//   if (!end) Log(end.error().text);
//
// The file is untrusted: memory is allocated only for data that exists, and the sink gets a key only after all of it
// was read. If a later part of the file is bad, the sink has already received a part of the data set; the caller must
// discard it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "datatypes/database.h"
#include "datatypes/encoding_limits.h"
#include "persistence/file_system.h"

namespace respite {

// A key read from the file. Its entry has the deadline, which may have passed.
struct RdbEntry {
  EntryPtr entry;
  std::optional<uint64_t> idle_s;
  std::optional<uint8_t> frequency;
};

// Receives the content of a file, in order. Bytes are valid during the call. A Failure stops the reading; its text is
// kept.
class RdbSink {
 public:
  virtual ~RdbSink() = default;

  // Here and below, `offset` is where the file continues after the item.
  virtual void OnAux(Bytes name, Bytes value, uint64_t offset) = 0;
  // The keys that follow are of this database.
  virtual void OnDatabase(int /*db*/, uint64_t /*offset*/) {}
  // The number of keys that a database is said to have, for Database::Reserve. Only a hint, but never more than the
  // rest of the file could contain if each key took 16 bytes.
  virtual void OnResize(int db, uint64_t keys, uint64_t timed) = 0;
  // Up to `RdbReadOptions::batch` keys of one database, to be taken over. Insertion into a large keyspace mostly waits
  // for memory, so prefetch the buckets of all keys before inserting the first. The reader does not check for duplicate
  // keys.
  virtual Result<Done> OnEntries(int db, std::span<RdbEntry> entries) = 0;
  // An empty collection, which some old servers wrote. Redis: skips such keys.
  virtual void OnEmptyKey(int db, Bytes key) = 0;
  virtual Result<Done> OnLibrary(Bytes code) = 0;
  // Data that a module stored besides keys. Return Done to skip it. The default refuses it, as Redis does.
  virtual Result<Done> OnModuleAux(Bytes module);
  // The value of a key belongs to a module. Return Done to skip the key. The default refuses it.
  virtual Result<Done> OnModuleValue(Bytes module);
  // The file seems good, but has no checksum. Called only if the checksum was to be verified.
  virtual void OnUnverified() {}
  // Called after every `progress_interval` bytes, possibly in the middle of a long value.
  virtual Result<Done> OnProgress(uint64_t offset) = 0;
};

struct RdbReadOptions {
  enum class Checksum : uint8_t { kIgnore, kVerify };
  enum class Versions : uint8_t { kKnown, kAll };

  const EncodingLimits& limits;
  HashKey hash_key{};   // of large collections
  uint32_t access = 0;  // of the new entries
  int databases = 16;   // a key of a higher database is an error
  Checksum checksum = Checksum::kVerify;
  Versions versions = Versions::kKnown;  // kAll: reads newer ones as far as they have what is known here
  uint64_t progress_interval = 2 * 1024 * 1024;
  size_t batch = 16;               // number of entries that the sink gets at once
  size_t piece_bytes = 256 << 10;  // unit of reading; at least 1
};

struct RdbFailure {
  enum class Kind : uint8_t {
    kTruncated,  // the file ends too early, or a length in it is too large
    kSignature,
    kVersion,
    kChecksum,
    kDatabases,
    kModule,
    kCorrupt,
    kSink,
    kIo,
  };
  // What was being read.
  enum class Step : uint8_t {
    kHead,
    kOpcode,
    kDeadline,
    kSizes,  // the number of a database, or of keys
    kAux,
    kModuleAux,
    kLibrary,
    kKey,
    kValue,
    kChecksum,
  };
  Kind kind;
  std::string text;  // Redis' log text, if it has one
  uint64_t offset;   // in the file, where the error was detected
  Step step = Step::kHead;
  std::optional<uint8_t> type = std::nullopt;     // of the value, in steps kKey and kValue
  std::optional<std::string> key = std::nullopt;  // in step kValue
};

// The first bytes of an RDB: the signature and the version of the format.
inline constexpr size_t kRdbHeadBytes = 9;
struct RdbHead {
  int version = 0;                        // 0: it is none
  std::optional<RdbFailure::Kind> fault;  // why an RDB with this head cannot be read: kSignature or kVersion
  std::string text;                       // of the fault
};
// Judges the first kRdbHeadBytes of an RDB, before anything is done for it. Requires: bytes.size() == kRdbHeadBytes.
RdbHead ReadRdbHead(Bytes bytes, RdbReadOptions::Versions versions);

// The offset after the RDB, where the file may continue. Cost: O(bytes); memory for 512 KB and the longest value.
Result<uint64_t, RdbFailure> ReadRdb(File& file, uint64_t offset, const RdbReadOptions& options, RdbSink& sink);

}  // namespace respite
