// Makes entries of the values in RDB files and DUMP payloads: every encoding that Redis 7.2 reads, and the hashes with
// field deadlines of 7.4.
//
// Nothing is believed: a value that is cut off, says more than is there, repeats a field or member, has a score that is
// no number, or is empty, is refused as a whole. What is read is made anew in our own encodings, by the limits of this
// server: packed values are judged by their number of elements alone, as Redis does.
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
    kEmpty,  // in order, but for a collection without elements, which can be no key's value
  };
  Kind kind;
  const char* why;
};
using RdbValueResult = Result<EntryPtr, RdbValueFault>;

// The entry, or why there is none. `type` is the octet before the value. After kEmpty the input is behind the value.
// Cost: O(size of the value), also in memory.
RdbValueResult ReadRdbValue(RdbInput& input, uint8_t type, const RdbTarget& target);

// True for the values that are one packed text, and lists of such texts, in the encodings of today.
bool IsPackedRdbType(uint8_t type);

}  // namespace respite
