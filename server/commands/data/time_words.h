// Units and bases of times in arguments: EXPIRE and PEXPIREAT differ in both. Also their reply for no deadline.
#pragma once

#include <cstdint>

namespace respite {

enum class TimeUnit : uint8_t { kSeconds, kMilliseconds };
enum class TimeBase : uint8_t { kNow, kEpoch };

// TTL, HTTL and their families reply this for a key or a field that has no deadline.
inline constexpr int64_t kNoDeadlineReply = -1;

}  // namespace respite
