// Durations as people write them: `250` and `250ms`, `30s`, `5m`, `2h`, `7d`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// In milliseconds; nothing if the text is no duration, or a longer one than fits. The unit may be in capitals.
std::optional<int64_t> ParseDurationMs(Bytes text);

// With the largest unit that needs no fraction: "90s", "2h", "250ms".
std::string DurationText(int64_t duration_ms);

}  // namespace respite
