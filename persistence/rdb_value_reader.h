// Creates entries from the values in RDB files and DUMP payloads: every encoding that Redis 7.2 reads, and the hashes
// with field deadlines of 7.4.
//
// The input is untrusted: a value is refused as a whole if it is truncated, announces more than it contains, repeats a
// field or member, has a score that is not a number, or is empty. Values are rebuilt in our own encodings, by the
// limits of this server; as in Redis, only the number of elements decides whether a packed value stays packed.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "datatypes/database.h"
#include "datatypes/encoding_limits.h"
#include "persistence/rdb_input.h"

namespace respite {

// What the new entry needs besides its value.
struct RdbTarget {
  Bytes key;
  uint32_t access;
  const EncodingLimits& limits;
  HashKey hash_key;  // of the tables of large collections
  int64_t deadline_ms = kNoDeadline;
};

// Why there is no value.
struct RdbValueFault {
  enum class Kind : uint8_t {
    kBad,
    kEmpty,  // valid, but an empty collection, which no key can have as its value
  };
  Kind kind;
  const char* why;
};
using RdbValueResult = Result<EntryPtr, RdbValueFault>;

// The entry, or why there is none. `type` is the byte before the value. After kEmpty the input is after the value.
// Cost: O(size of the value), also in memory.
RdbValueResult ReadRdbValue(RdbInput& input, uint8_t type, const RdbTarget& target);

// True for values that are one packed text, or lists of such texts, in the current encodings.
bool IsPackedRdbType(uint8_t type);

}  // namespace respite
