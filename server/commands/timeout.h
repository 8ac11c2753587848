// Parses timeouts in milliseconds (WAIT, CLIENT PAUSE) or seconds (BLPOP and its family).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "server/execution/call.h"

namespace respite {

// Redis: adds timeouts to the wall clock, so those that would overflow are out of range.
inline int64_t CheckedTimeoutMs(const Call& call, int64_t timeout_ms) {
  if (timeout_ms < 0) throw Refusal{refusals::kTimeoutNegative};
  if (timeout_ms > std::numeric_limits<int64_t>::max() - call.now_ms) throw Refusal{refusals::kTimeoutOutOfRange};
  return timeout_ms;
}

inline int64_t TimeoutMs(const Call& call, Bytes word) {
  return CheckedTimeoutMs(call, Args::Integer(word, refusals::kTimeoutNotInteger));
}

// Seconds with a fraction, rounded up to milliseconds. 0: no timeout. Redis: a negative fraction of a millisecond
// becomes 0.
inline int64_t TimeoutSeconds(const Call& call, Bytes word) {
  const auto seconds = ParseLongDouble(word);
  if (!seconds) throw Refusal{refusals::kTimeoutNotFloat};
  const long double timeout_ms = std::ceil(*seconds * 1000);
  if (timeout_ms > static_cast<long double>(std::numeric_limits<int64_t>::max())) {
    throw Refusal{refusals::kTimeoutOutOfRange};
  }
  if (timeout_ms < 0) throw Refusal{refusals::kTimeoutNegative};
  return CheckedTimeoutMs(call, static_cast<int64_t>(timeout_ms));
}

}  // namespace respite
