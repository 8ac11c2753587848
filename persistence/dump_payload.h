// The payload of DUMP and RESTORE: a value with its type, then `version {2} | CRC-64 of all before {8}`. Payloads of
// function libraries have the same form (function_payload.h).
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "datatypes/entry.h"
#include "persistence/rdb_output.h"

namespace respite {

// Cost: O(size of the value).
std::string DumpPayload(const Entry& entry, RdbCompression compression);

// The content of `out`, followed by version and checksum.
std::string FinishedPayload(RdbOutput out, uint16_t version);

enum class PayloadCheck : uint8_t { kSkipChecksum, kChecksum };

// The part of the payload before version and checksum; nullopt if the payload is too short, if its version is newer
// than we can read, or if the checksum is wrong.
std::optional<Bytes> CheckedPayload(Bytes payload, PayloadCheck check);

}  // namespace respite
