// Types that the readers of RDB files and of RDBs from a peer share: options, the sink that gets the content, and the
// description of a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "datatypes/database.h"
#include "datatypes/encoding_limits.h"
#include "persistence/rdb_format.h"

namespace respite {

struct RdbEntry {                    // a key that was read from an RDB
  EntryPtr entry;                    // key, value and deadline, which may already have passed
  std::optional<uint64_t> idle_s;    // how long the key was not used, in seconds; nullopt: unknown
  std::optional<uint8_t> frequency;  // the key's LFU counter; nullopt: unknown
};

// All `Bytes` arguments are valid only during the call. If a function returns a Failure, reading stops, and the
// RdbFailure has the text of that Failure.
class RdbSink {  // an interface: receives the content of an RDB in order
 public:
  virtual ~RdbSink() = default;

  // In OnAux and OnDatabase, `offset` is the position in the file where the item ends.
  virtual void OnAux(Bytes name, Bytes value, uint64_t offset) = 0;  // gets an auxiliary field, such as redis-ver
  virtual void OnDatabase(int /*db*/, uint64_t /*offset*/) {}        // called before the keys of a database
  // Called with the announced number of keys of a database, for Database::Reserve. The numbers are only a hint. They
  // are limited to what the rest of the input could contain if each key took 16 bytes.
  virtual void OnResizeDatabase(int db, uint64_t keys,  // called with the announced number of keys
                                uint64_t keys_with_deadline) = 0;
  // Called with up to `RdbReadOptions::batch` keys of one database, which the sink takes over. Inserting into a large
  // keyspace mostly waits for memory, so prefetch the buckets of all keys before inserting the first. The reader does
  // not check for duplicate keys.
  virtual Result<Done> OnEntries(int db,  // called with some keys, which the sink takes over
                                 std::span<RdbEntry> entries) = 0;
  // The reader skips a key whose collection has no elements, and does not pass the key to OnEntries. Some old servers
  // wrote such keys.
  virtual void OnEmptyCollection(int db, Bytes key) = 0;  // called for an empty collection, whose key is skipped
  virtual Result<Done> OnLibrary(Bytes code) = 0;         // gets the code of a function library
  // Called for data that a module stored outside keys. Return Done to skip the data. This default implementation fails,
  // as Redis does.
  virtual Result<Done> OnModuleAux(Bytes module);  // called for data of a module; default: refuses the RDB
  // Called if the value of a key belongs to a module. Return Done to skip the key. This default implementation fails,
  // as Redis does.
  virtual Result<Done> OnModuleValue(Bytes module);  // called for a module's value; default: refuses the RDB
  // Called at the end of the RDB. Reading has not failed.
  virtual void OnMissingChecksum() {}  // called if a checksum should be verified, but is 0 in the RDB
  // `offset` is the position in the file. The call may happen in the middle of a long value.
  virtual Result<Done> OnProgress(uint64_t offset) = 0;  // called after about every `progress_interval_bytes` bytes
};

struct RdbReadOptions {  // how to read an RDB
  enum class Checksum : uint8_t { kIgnore, kVerify };
  enum class Versions : uint8_t { kKnown, kAll };

  const EncodingLimits& limits;           // collections up to these sizes are stored packed
  HashKey hash_key{};                     // the secret hash key of the database, for large collections
  uint32_t access = 0;                    // access time or frequency (Entry::Access) that new keys get
  int databases = 16;                     // number of databases of the server; other databases in the RDB are an error
  Checksum checksum = Checksum::kVerify;  // kVerify: the CRC-64 at the end must be right, or 0
  Versions versions = Versions::kKnown;   // kAll: also later RDB versions, if they use only known types
  uint64_t progress_interval_bytes = 2 * 1024 * 1024;  // approximate number of bytes between two calls of OnProgress
  size_t batch = 16;                                   // maximum number of keys per call of OnEntries
  size_t piece_bytes = 256 << 10;                      // bytes per read of the file; more for a longer value
};

struct RdbFailure {  // why and where reading an RDB failed
  enum class Kind : uint8_t {
    kTruncated,  // the file ends too early, or a length in it is too large
    kSignature,  // the file does not begin with "REDIS" or "VALKEY"
    kVersion,    // the RDB version is not known
    kChecksum,   // the CRC-64 at the end is wrong
    kDatabases,  // the number of a database is too high for this server
    kModule,     // the sink refused the data of a module
    kCorrupt,    // a length, number or value is malformed
    kSink,       // the sink refused an item
    kIo,         // the file could not be read
  };
  // The part of the file that was being read when the fault occurred.
  enum class Step : uint8_t {
    kHead,
    kOpcode,
    kDeadline,
    kSizes,  // the number of a database, or its number of keys
    kAux,
    kModuleAux,
    kLibrary,
    kKey,
    kValue,
    kChecksum,
  };
  Kind kind;                                      // what kind of failure it is
  std::string text;                               // text for the log; in Redis' words where Redis has a text
  uint64_t offset;                                // how far the file or RDB was read when the error was found
  Step step = Step::kHead;                        // which part of the RDB was being read
  std::optional<uint8_t> type = std::nullopt;     // RDB type of the value, for steps kKey, kValue
  std::optional<std::string> key = std::nullopt;  // the key, for step kValue
};

// The size in bytes of the signature and the version at the start of an RDB.
inline constexpr size_t kRdbHeaderBytes = 9;
struct RdbHeader {                              // signature and version, the first 9 bytes of an RDB
  int version = 0;                              // the RDB version; 0: there is none
  std::optional<RdbFailure::Kind> fault;        // why the RDB cannot be read: kSignature or kVersion; nullopt: no fault
  std::string text;                             // of the fault
  rdb::Dialect dialect = rdb::Dialect::kRedis;  // whether type numbers have the meaning of Redis or of Valkey 9
};
// Requires: bytes.size() == kRdbHeaderBytes.
RdbHeader ParseRdbHeader(Bytes bytes, RdbReadOptions::Versions versions);  // reads magic and version; a fault if bad

}  // namespace respite
