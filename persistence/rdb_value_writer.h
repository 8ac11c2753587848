// Values as RDB files and DUMP payloads hold them: the type octet and what rdb_format.h says belongs to it.
//
// Packed values are written as they lie in their entry, which is why they are kept in Redis' own layouts; large ones
// element by element. Small values give the octets that Redis 7.2 gives for the same value.
#pragma once

#include <cstdint>

#include "datatypes/entry.h"
#include "persistence/rdb_output.h"

namespace respite {

// Cost: O(size of the value); compression takes most of it.
void WriteRdbValue(RdbOutput& out, const Entry& entry);
// With the key between type and value, as in a file.
void WriteRdbKeyAndValue(RdbOutput& out, const Entry& entry);

// The version of the format that a reader of this value must know.
uint16_t RdbVersionFor(const Entry& entry);

}  // namespace respite
