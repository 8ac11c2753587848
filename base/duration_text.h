// Durations as users write them: `250` and `250ms`, `30s`, `5m`, `2h`, `7d`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// Ignores the case of the unit. Also returns nullopt for a duration that is too long for an int64_t.
std::optional<int64_t> ParseDurationMs(Bytes text);  // "250ms", "30s" or "2h" as milliseconds; nullopt: no duration

std::string DurationText(int64_t duration_ms);  // in the largest unit without a fraction: "250ms", "90s" or "2h"

}  // namespace respite
