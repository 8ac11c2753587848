// Writes values for RDB files and DUMP payloads: the type byte and the bytes that rdb_format.h defines for that type.
//
// Packed values are mostly written unchanged, because Respite keeps them in the layouts of Redis. Large values are
// written element by element. Small values produce the same bytes as in Redis 7.2.
#pragma once

#include <cstdint>

#include "datatypes/entry.h"
#include "persistence/rdb_output.h"

namespace respite {

// Cost: O(size of the value); most of the time goes into compression, unless compression is off.
void WriteRdbValue(RdbOutput& out, const Entry& entry);  // writes the type byte, then the value
void WriteRdbKeyAndValue(RdbOutput& out,  // writes the type byte, the key, then the value, as in an RDB file
                         const Entry& entry);

uint16_t RdbVersionFor(const Entry& entry);  // the version for a payload with this value: 11, or higher if needed

}  // namespace respite
