// A time to wait, in milliseconds, among the arguments.
#pragma once

#include <cstdint>
#include <limits>

#include "server/call.h"

namespace respite {

// Redis: measured from the wall clock, so what would overflow it is out of range.
inline int64_t TimeoutMs(const Call& call, Bytes word) {
  const int64_t timeout_ms = Args::Integer(word, refusals::kTimeoutNotInteger);
  if (timeout_ms < 0) throw Refusal{refusals::kTimeoutNegative};
  if (timeout_ms > std::numeric_limits<int64_t>::max() - call.now_ms) throw Refusal{refusals::kTimeoutOutOfRange};
  return timeout_ms;
}

}  // namespace respite
