// Options for the payloads of DUMP, RESTORE, MIGRATE, FUNCTION DUMP and FUNCTION RESTORE: whether they are compressed
// (rdbcompression), and whether their checksum is verified (a switch of DEBUG).
#pragma once

#include "persistence/dump_payload.h"
#include "server/clients/session.h"
#include "server/config/debug_switches.h"
#include "server/config/settings.h"
#include "server/dataset/unit.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {

inline constexpr char kPayloadChecksum[] = "ERR DUMP payload version or checksum are wrong";

}  // namespace refusals

inline RdbCompression CompressionOf(const Settings& settings) {  // whether DUMP, FUNCTION DUMP, MIGRATE compress
  return settings.rdbcompression ? RdbCompression::kOn : RdbCompression::kOff;
}

inline PayloadCheck PayloadChecksOf(const Call& call) {  // whether (FUNCTION) RESTORE verifies checksums
  if (call.services.env.debug.skip_payload_checksum) return PayloadCheck::kSkipChecksum;
  const bool is_of_node = call.unit.IsReplaying() || call.session.cluster_options.is_internal;
  return is_of_node ? PayloadCheck::kChecksumIfAny : PayloadCheck::kChecksum;
}

}  // namespace respite
