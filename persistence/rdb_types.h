// The functions that read and write the RDB bytes of one type of value, and helpers that these functions share.
// rdb_value_reader.h and rdb_value_writer.h call the function of the type. Each type except strings has its own file,
// such as rdb_list.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "datatypes/database.h"
#include "datatypes/encoding_limits.h"
#include "persistence/packed_elements.h"
#include "persistence/rdb_format.h"
#include "persistence/rdb_input.h"
#include "persistence/rdb_output.h"

namespace respite {

struct RdbEntryProperties {           // the key that gets a value read from an RDB: name, deadline, limits …
  Bytes key;                          // the name of the key
  uint32_t access;                    // access time or frequency (Entry::Access) of the key
  const EncodingLimits& limits;       // collections up to these sizes are stored packed
  HashKey hash_key;                   // the secret hash key of the database, for large collections
  int64_t deadline_ms = kNoDeadline;  // when the key expires (Unix ms), or kNoDeadline
  rdb::Dialect dialect = rdb::Dialect::kRedis;  // whether type numbers have the meaning of Redis or of Valkey 9
};

struct RdbValueFault {  // why a value in an RDB cannot be read
  enum class Kind : uint8_t {
    kBad,    // the value is malformed
    kEmpty,  // an empty collection, which is valid but cannot be the value of a key
  };
  Kind kind;        // kBad, or kEmpty: an empty collection
  const char* why;  // a short reason, for errors and logs
};
using RdbValueResult = Result<EntryPtr, RdbValueFault>;

// ReadRdbList … ReadRdbArray read the bytes after the type byte. If input.Failed() is true afterwards, the result is
// meaningless, and the caller must ignore it.
RdbValueResult ReadRdbList(RdbInput& input, rdb::Type type,  // reads a list, and makes an entry with it
                           const RdbEntryProperties& target);
RdbValueResult ReadRdbSet(RdbInput& input, rdb::Type type,  // reads a set, and makes an entry with it
                          const RdbEntryProperties& target);
RdbValueResult ReadRdbSortedSet(RdbInput& input, rdb::Type type,  // reads a sorted set, and makes an entry with it
                                const RdbEntryProperties& target);
RdbValueResult ReadRdbHash(RdbInput& input, rdb::Type type,  // reads a hash, and makes an entry with it
                           const RdbEntryProperties& target);
RdbValueResult ReadRdbStream(RdbInput& input, rdb::Type type,  // reads a stream, and makes an entry with it
                             const RdbEntryProperties& target);
RdbValueResult ReadRdbArray(RdbInput& input,  // reads an array, and makes an entry with it
                            const RdbEntryProperties& target);

// Values of data types that are modules of Redis (rdb_module.cc). The module's ID comes after the type byte.
bool IsKnownRdbModule(uint64_t module);  // true: ReadRdbModuleValue can read values of this module
RdbValueResult ReadRdbModuleValue(RdbInput& input, uint64_t module,  // reads a value after the ID of its module
                                  const RdbEntryProperties& target);
RdbValueResult ReadRdbVectorSet(RdbInput& input,  // reads a vector set after the ID, and makes an entry with it
                                const RdbEntryProperties& target);
RdbValueResult ReadRdbJson(RdbInput& input,  // reads a JSON document after the ID, and makes an entry with it
                           const RdbEntryProperties& target);

// WriteRdbList … WriteRdbJson write the bytes after the type byte; rdb_value_writer.cc writes the type byte.
void WriteRdbList(RdbOutput& out, const Entry& entry);              // writes the list without its type byte
void WriteRdbSet(RdbOutput& out, const Entry& entry);               // writes the set without its type byte
void WriteRdbSortedSet(RdbOutput& out, const Entry& entry);         // writes the sorted set without its type byte
void WriteRdbHash(RdbOutput& out, const Entry& entry);              // writes the hash without its type byte
void WriteRdbStream(RdbOutput& out, const Entry& entry);            // writes the stream without its type byte
void WriteRdbArray(RdbOutput& out, const Entry& entry);             // writes the array without its type byte
void WriteRdbVectorSet(RdbOutput& out, const Entry& entry);         // writes the vector set without its type byte
void WriteRdbJson(RdbOutput& out, const Entry& entry);              // writes the document without its type byte
rdb::Type RdbTypeOfStream(const Entry& entry, RdbDialect dialect);  // the type byte that belongs to WriteRdbStream

inline Failure<RdbValueFault> BadValueFault(const char* why) {  // makes the error for a malformed value
  return Failure(RdbValueFault{.kind = RdbValueFault::Kind::kBad, .why = why});
}
inline Failure<RdbValueFault> EmptyValueFault() {  // makes the error for an empty collection: its key is skipped
  return Failure(RdbValueFault{.kind = RdbValueFault::Kind::kEmpty, .why = "the collection is empty"});
}

// MakePackedEntry and MakeObjectEntry do not give the new entry the deadline in `target`; ReadRdbValue and
// ReadRdbModuleEntry do so afterwards.
inline EntryPtr MakePackedEntry(const RdbEntryProperties& target, ValueType type,  // makes a key with a packed value
                                ValueForm form, Bytes packed) {
  return EntryPtr(Entry::CreatePacked(target.key, type, form, packed, 0, target.access));
}
inline EntryPtr MakeObjectEntry(const RdbEntryProperties& target, ValueType type,  // makes a key that owns `object`
                                std::unique_ptr<Object> object) {
  return EntryPtr(Entry::CreateWithObject(target.key, type, std::move(object), target.access));
}

// Use this only for small collections, because all texts are in memory together.
std::vector<RdbText> ReadTexts(RdbInput& input, uint64_t count);  // reads `count` texts; fewer if the input fails
PackedElements ElementsOf(const std::vector<RdbText>& texts);     // the texts as elements, which are views of them
// Returns true if the listpack is canonical, consists of 1 to `max_items` complete items of `stride` elements each, and
// the first elements of the items are distinct.
bool MayStoreUnchanged(const CanonicalListpack& listpack,  // true: the listpack can become a value without a rebuild
                       size_t stride, uint64_t max_items, const RdbEntryProperties& target);
bool HasLongElement(const PackedElements& elements,  // true: an element as text is longer than `max` bytes
                    uint64_t max);

}  // namespace respite
