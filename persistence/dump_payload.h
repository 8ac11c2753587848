// What DUMP answers and RESTORE takes: a value with its type, then `version {2} | CRC-64 of all before {8}`. Libraries
// of functions travel in the same way (function_payload.h).
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "datatypes/entry.h"
#include "persistence/rdb_output.h"

namespace respite {

// Cost: O(size of the value).
std::string DumpPayload(const Entry& entry, RdbCompression compression);

// What was written, with version and checksum behind it.
std::string FinishedPayload(RdbOutput out, uint16_t version);

enum class PayloadCheck : uint8_t { kSkipChecksum, kChecksum };

// The type and value in front of version and checksum; nothing when it is too short, of a version newer than we read,
// or when the checksum is wrong.
std::optional<Bytes> CheckedPayload(Bytes payload, PayloadCheck check);

}  // namespace respite
