// Writes values for RDB files and DUMP payloads: the type byte and what rdb_format.h defines for it.
//
// Packed values are written unchanged, because they are kept in Redis' own layouts; large ones element by element.
// Small values produce the same bytes as in Redis 7.2.
#pragma once

#include <cstdint>

#include "datatypes/entry.h"
#include "persistence/rdb_output.h"

namespace respite {

// Cost: O(size of the value); compression takes most of it.
void WriteRdbValue(RdbOutput& out, const Entry& entry);
// With the key between type and value, as in a file.
void WriteRdbKeyAndValue(RdbOutput& out, const Entry& entry);

// The format version that a reader of this value must support.
uint16_t RdbVersionFor(const Entry& entry);

}  // namespace respite
