// Durations as users write them: `250` and `250ms`, `30s`, `5m`, `2h`, `7d`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// Returns milliseconds, or nullopt if the text is not a duration or is too long for an int64_t. Case does not matter.
std::optional<int64_t> ParseDurationMs(Bytes text);  // reads "250ms", "30s" or "2h"; nullopt: not a duration

// Writes a duration in the largest unit that needs no fraction.
std::string DurationText(int64_t duration_ms);  // writes a duration as "250ms", "90s" or "2h"

}  // namespace respite
