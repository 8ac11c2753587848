// Units and bases of times in arguments: EXPIRE and PEXPIREAT differ in both.
#pragma once

#include <cstdint>

namespace respite {

enum class TimeUnit : uint8_t { kSeconds, kMilliseconds };
enum class TimeBase : uint8_t { kNow, kEpoch };

}  // namespace respite
