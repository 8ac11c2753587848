// Creates entries from the values in RDB files and DUMP payloads. Reads every encoding that Redis 7.2 reads; of
// modules, only vector sets and JSON documents. Also reads types that Redis 7.2 lacks: hashes with field deadlines
// (Redis 7.4, Valkey 9), streams with idempotent production or released entries, and arrays (rdb_format.h lists all).
//
// The input is untrusted. A value is refused as a whole if it is truncated or announces more than it contains. A value
// is also refused if it repeats a field or member, has a score that is not a number, or is an empty collection. Values
// are rebuilt in this server's own encodings, according to its limits; a listpack that needs no change is kept. As in
// Redis, a packed hash, set or sorted set stays packed unless it has too many elements, even if some are long.
#pragma once

#include <cstdint>

#include "persistence/rdb_input.h"
#include "persistence/rdb_types.h"

namespace respite {

// `type` is the byte before the value. If the error is kEmpty, the input continues after the value. Cost: O(size of the
// value), also in memory.
RdbValueResult ReadRdbValue(RdbInput& input, uint8_t type,  // reads a value of any type, and makes an entry with it
                            const RdbEntryProperties& target);

// Reads a value of a module, after the type byte and the ID of the module. Requires: IsKnownRdbModule(module).
RdbValueResult ReadRdbModuleEntry(RdbInput& input, uint64_t module,  // reads a module's value; makes an entry with it
                                  const RdbEntryProperties& target);

// Returns false for strings, streams, plain sequences and the old encodings (ziplist, zipmap).
bool IsPackedRdbType(uint8_t type);  // true: a list, set, sorted set or hash in listpacks or an intset

}  // namespace respite
