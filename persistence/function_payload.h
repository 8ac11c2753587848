// What FUNCTION DUMP answers and FUNCTION RESTORE takes: the code of each library as it stands in an RDB file, then the
// footer of dump_payload.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "persistence/rdb_output.h"

namespace respite {

// One library, as RDB files have it, too.
void WriteFunctionLibrary(RdbOutput& out, Bytes code);

// Cost: O(size of the codes).
std::string FunctionPayload(std::span<const Bytes> codes, RdbCompression compression);

enum class FunctionPayloadError : uint8_t { kPreRelease, kNoFunction, kTruncated };

// The codes in a payload; `libraries` is what CheckedPayload gave.
Result<std::vector<std::string>, FunctionPayloadError> ReadFunctionPayload(Bytes libraries);

}  // namespace respite
