// Units and bases of times in arguments, such as seconds from now (EXPIRE) and Unix milliseconds (PEXPIREAT). Also the
// reply for a missing deadline.
#pragma once

#include <cstdint>

namespace respite {

enum class TimeUnit : uint8_t { kSeconds, kMilliseconds };
enum class TimeBase : uint8_t { kNow, kEpoch };

// Reply of TTL, HTTL and their variants for a key or a field without a deadline.
inline constexpr int64_t kNoDeadlineReply = -1;

}  // namespace respite
