// Helpers for the SENTINEL commands.
#pragma once

#include <string>

#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/sentinel/sentinel.h"
#include "server/sentinel/sentinel_mode.h"

namespace respite {

inline Sentinel& SentinelOf(const Call& call) {  // the Sentinel that this server is
  return *call.services.sentinel.sentinel();
}

inline Primary& PrimaryNamed(const Call& call, Bytes name) {  // the monitored primary of this name; throws if unknown
  Primary* const primary = SentinelOf(call).state().Find(name);
  if (primary == nullptr) throw Refusal{"ERR No such master with that name"};
  return *primary;
}

inline void SaveAndReply(Call& call) {  // writes the configuration file, then replies OK or an error
  if (!SentinelOf(call).core().Save()) throw Refusal{"ERR Failed to save config file. Check server logs."};
  call.reply.Ok();
}

}  // namespace respite
