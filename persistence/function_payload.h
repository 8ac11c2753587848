// The payload of FUNCTION DUMP and FUNCTION RESTORE: the code of each library as in an RDB file, then the footer of
// dump_payload.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "persistence/rdb_output.h"

namespace respite {

// Writes one library. RDB files also use this.
void WriteFunctionLibrary(RdbOutput& out, Bytes code);

// Returns the payload. Cost: O(size of the codes).
std::string FunctionPayload(std::span<const Bytes> codes, RdbCompression compression);

enum class FunctionPayloadError : uint8_t { kPreRelease, kNoFunction, kTruncated };

// Returns the codes in a payload. `libraries` is the result of CheckedPayload.
Result<std::vector<std::string>, FunctionPayloadError> ReadFunctionPayload(Bytes libraries);

}  // namespace respite
