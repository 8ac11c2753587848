// The payload of DUMP and RESTORE: a value with its type, then `version {2} | CRC-64 of everything before {8}`. The
// payloads of function libraries (function_payload.h) also end with version and CRC-64.
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "datatypes/entry.h"
#include "persistence/rdb_format.h"
#include "persistence/rdb_output.h"

namespace respite {

// Cost: O(size of the value).
std::string DumpPayload(const Entry& entry, RdbCompression compression);  // what DUMP replies for this key

std::string PayloadWithFooter(RdbOutput out, uint16_t version);  // appends RDB version and CRC-64 to `out`; returns all

// kChecksumIfAny: the checksum 0 stands for none. Redis 8.4 sends such payloads with the keys of a slot migration.
enum class PayloadCheck : uint8_t { kSkipChecksum, kChecksumIfAny, kChecksum };

// Returns nullopt if the payload is too short, if its version is newer than this server can read, or (unless
// kSkipChecksum) if the checksum is wrong.
std::optional<Bytes> VerifyPayload(Bytes payload,  // the payload without version and CRC-64; nullopt: invalid
                                   PayloadCheck check);

// Returns the payload with another version, and a checksum for it. Requires: VerifyPayload has accepted the payload.
std::string PayloadWithVersion(Bytes payload, uint16_t version);  // the same payload, but with this RDB version
// Returns a payload for the value of `entry` that as many versions of Redis as possible can read, from 7.0 on. Returns
// nullopt if `payload`, from which the value was read, is already in that form. Requires: VerifyPayload has accepted
// the payload. Cost: O(size of the value).
std::optional<std::string> PortablePayload(Bytes payload, const Entry& entry,  // a payload for older versions of Redis
                                           RdbCompression compression);

// Requires: VerifyPayload has accepted the payload.
rdb::Dialect DialectOfPayload(Bytes payload);  // whether Redis (kRedis) or Valkey 9 (kValkey) wrote the payload

}  // namespace respite
