// The payload of FUNCTION DUMP and FUNCTION RESTORE: the code of each library as in an RDB file, then the version and
// CRC-64 that dump_payload.h describes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "persistence/rdb_output.h"

namespace respite {

void WriteFunctionLibrary(RdbOutput& out, Bytes code);  // writes a library's code, for RDB files and FUNCTION DUMP

// Cost: O(total size of the codes).
std::string FunctionPayload(std::span<const Bytes> codes, RdbCompression compression);  // what FUNCTION DUMP replies

// Why a payload of FUNCTION RESTORE cannot be read. kPreRelease: the format of functions before Redis 7.0 was released.
// kNoFunction: the payload contains something other than libraries.
enum class FunctionPayloadError : uint8_t { kPreRelease, kNoFunction, kTruncated, kTooLarge };

// Returns the source codes of the libraries in a payload. `libraries` is the result of VerifyPayload. Fails with
// kTooLarge before the codes take more than `max_bytes` of memory; each takes 64 bytes more than its length. A
// compressed code can be about 88 times as long as its bytes in the payload. Ends after a code that does not begin with
// `#!`, because no library is loaded after it.
Result<std::vector<std::string>, FunctionPayloadError> ReadFunctionPayload(Bytes libraries,  // the code of each library
                                                                           uint64_t max_bytes);

}  // namespace respite
