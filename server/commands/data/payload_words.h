// Options for the payloads of DUMP, RESTORE, MIGRATE, FUNCTION DUMP and FUNCTION RESTORE: whether they are compressed
// (rdbcompression), and whether their checksum is verified (a switch of DEBUG).
#pragma once

#include "persistence/dump_payload.h"
#include "server/config/debug_switches.h"
#include "server/config/settings.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {

inline constexpr char kPayloadChecksum[] = "ERR DUMP payload version or checksum are wrong";

}  // namespace refusals

inline RdbCompression CompressionOf(const Settings& settings) {  // whether DUMP, FUNCTION DUMP, MIGRATE compress
  return settings.rdbcompression ? RdbCompression::kOn : RdbCompression::kOff;
}

inline PayloadCheck PayloadChecksOf(const Services& services) {  // whether (FUNCTION) RESTORE verifies checksums
  return services.env.debug.skip_payload_checksum ? PayloadCheck::kSkipChecksum : PayloadCheck::kChecksum;
}

}  // namespace respite
