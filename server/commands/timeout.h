// Parses timeouts in milliseconds (WAIT, CLIENT PAUSE) or seconds (BLPOP and its variants).
#pragma once

#include <cstdint>
#include <limits>

#include "server/execution/call.h"

namespace respite {

namespace refusals {

inline constexpr char kTimeoutNotFloat[] = "ERR timeout is not a float or out of range";
inline constexpr char kTimeoutNotInteger[] = "ERR timeout is not an integer or out of range";
inline constexpr char kTimeoutOutOfRange[] = "ERR timeout is out of range";
inline constexpr char kTimeoutNegative[] = "ERR timeout is negative";

}  // namespace refusals

// Redis: adds timeouts to the wall clock, so timeouts that would overflow are out of range.
inline int64_t CheckedTimeoutMs(const Call& call, int64_t timeout_ms) {
  if (timeout_ms < 0) throw Refusal{refusals::kTimeoutNegative};
  if (timeout_ms > std::numeric_limits<int64_t>::max() - call.now_ms) throw Refusal{refusals::kTimeoutOutOfRange};
  return timeout_ms;
}

inline int64_t TimeoutMs(const Call& call, Bytes word) {
  return CheckedTimeoutMs(call, Args::Integer(word, refusals::kTimeoutNotInteger));
}

// Parses seconds with a fraction. Returns milliseconds, rounded up; 0 means no timeout. Redis: a negative fraction of a
// millisecond becomes 0.
int64_t TimeoutSeconds(const Call& call, Bytes word);

}  // namespace respite
