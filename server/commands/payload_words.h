// How payloads of DUMP and FUNCTION DUMP are written and checked, as directives and DEBUG switches say.
#pragma once

#include "persistence/dump_payload.h"
#include "server/server.h"

namespace respite {

inline RdbCompression CompressionOf(const Settings& settings) {
  return settings.rdbcompression ? RdbCompression::kOn : RdbCompression::kOff;
}

inline PayloadCheck ChecksOf(Server& server) {
  return server.debug().skip_payload_checksum ? PayloadCheck::kSkipChecksum : PayloadCheck::kChecksum;
}

}  // namespace respite
