// Reads an RDB file, or the RDB part at the beginning of an AOF: Redis' versions 1 to 14, and Valkey's version 80
// (rdb_format.h has the grammar).
//
//   auto end = ReadRdb(file, 0, {.limits = limits, .hash_key = hash_key}, sink);
//   if (!end) Log(end.error().text);
//
// The file is untrusted. Memory is allocated only for data that exists, and the sink gets a key only after all of the
// key was read. If a later part of the file is bad, the sink has already received part of the data set, which the
// caller must discard.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "persistence/file_system.h"
#include "persistence/rdb_sink.h"

namespace respite {

// Returns the offset after the RDB; an AOF may continue there. Cost: O(bytes); memory for 512 KB and the longest value.
Result<uint64_t, RdbFailure> ReadRdb(File& file, uint64_t offset,  // reads an RDB into a sink; returns where it ends
                                     const RdbReadOptions& options, RdbSink& sink);

}  // namespace respite
