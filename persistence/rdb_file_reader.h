// Reads an RDB file, or the RDB part at the beginning of an AOF, of versions 1 to 12 (rdb_format.h has the grammar).
//
//   auto end = ReadRdb(file, 0, {.limits = limits, .hash_key = hash_key}, sink);
//   if (!end) Log(end.error().text);
//
// Nothing that the file says is believed, memory is taken only for what is there, and a key gets to the sink when all
// of it was read. A sink has then seen a part of the data set when the rest turns out to be bad; it is for the caller
// to throw that away.
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

// A key on its way in. Its entry has the deadline, which may have passed.
struct RdbEntry {
  EntryPtr entry;
  std::optional<uint64_t> idle_s;
  std::optional<uint8_t> frequency;
};

// What a file has, in its order. Bytes are good during the call. A Failure ends the reading; its text is kept.
class RdbSink {
 public:
  virtual ~RdbSink() = default;

  // `offset` is where the file goes on behind it, here and below.
  virtual void OnAux(Bytes name, Bytes value, uint64_t offset) = 0;
  // The keys that follow are of this database.
  virtual void OnDatabase(int /*db*/, uint64_t /*offset*/) {}
  // How many keys a database is said to have, for Database::Reserve. Only a hint, though never more than the rest of
  // the file could have, if each key took 16 octets.
  virtual void OnResize(int db, uint64_t keys, uint64_t timed) = 0;
  // Up to `RdbReadOptions::batch` keys of one database, to be taken: an insertion into a large keyspace waits for
  // memory mostly, so that it is well to prefetch the buckets of all before the first is inserted. Nobody has looked
  // whether a key comes twice.
  virtual Result<Done> OnEntries(int db, std::span<RdbEntry> entries) = 0;
  // A collection without elements, which some old servers wrote. Redis: such keys are left out.
  virtual void OnEmptyKey(int db, Bytes key) = 0;
  virtual Result<Done> OnLibrary(Bytes code) = 0;
  // Data that a module kept besides keys. Done: it is skipped. Redis: is refused, as here unless overridden.
  virtual Result<Done> OnModuleAux(Bytes module);
  // The value of a key is a module's. Done: the key is skipped. It is refused unless overridden.
  virtual Result<Done> OnModuleValue(Bytes module);
  // The file is good as far as it can be told, but has no checksum. Called only if one was to be verified.
  virtual void OnUnverified() {}
  // Each time when another `progress_interval` octets are read, possibly in the middle of a long value.
  virtual Result<Done> OnProgress(uint64_t offset) = 0;
};

struct RdbReadOptions {
  enum class Checksum : uint8_t { kIgnore, kVerify };

  const EncodingLimits& limits;
  HashKey hash_key{};   // of large collections
  uint32_t access = 0;  // of the new entries
  int databases = 16;   // a key of a database beyond them is an error
  Checksum checksum = Checksum::kVerify;
  uint64_t progress_interval = 2 * 1024 * 1024;
  size_t batch = 16;                // entries that the sink gets at once
  size_t piece_octets = 256 << 10;  // read at once; at least 1
};

struct RdbFailure {
  enum class Kind : uint8_t {
    kTruncated,  // the file ends too early, or a length in it says too much
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
  std::string text;  // what Redis logs, where it has words for it
  uint64_t offset;   // in the file, where it showed
  Step step = Step::kHead;
  std::optional<uint8_t> type = std::nullopt;     // of the value, in steps kKey and kValue
  std::optional<std::string> key = std::nullopt;  // in step kValue
};

// The offset behind the RDB, where the file may go on. Cost: O(octets); memory for 512 KB and the longest value.
Result<uint64_t, RdbFailure> ReadRdb(File& file, uint64_t offset, const RdbReadOptions& options, RdbSink& sink);

}  // namespace respite
