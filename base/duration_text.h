// Durations as users write them: `250` and `250ms`, `30s`, `5m`, `2h`, `7d`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// A number without a unit means milliseconds. Ignores the case of the unit. Returns nullopt for a negative number, a
// number with leading zeros, an unknown unit, or a duration that is too long for an int64_t.
std::optional<int64_t> ParseDurationMs(Bytes text);  // "250", "250ms", "30s" or "2h" in ms; nullopt: invalid

std::string DurationText(int64_t duration_ms);  // in the largest unit without a fraction: "250ms", "90s"; or "0"

}  // namespace respite
