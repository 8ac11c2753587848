// Writes the payload of DUMP and FUNCTION DUMP, and checks it on RESTORE. Directives and DEBUG switches affect how.
#pragma once

#include "persistence/dump_payload.h"
#include "server/config/debug_switches.h"
#include "server/config/settings.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {

inline constexpr char kPayloadChecksum[] = "ERR DUMP payload version or checksum are wrong";

}  // namespace refusals

inline RdbCompression CompressionOf(const Settings& settings) {  // whether DUMP compresses payloads
  return settings.rdbcompression ? RdbCompression::kOn : RdbCompression::kOff;
}

inline PayloadCheck PayloadChecksOf(const Services& services) {  // which checks RESTORE makes
  return services.env.debug.skip_payload_checksum ? PayloadCheck::kSkipChecksum : PayloadCheck::kChecksum;
}

}  // namespace respite
