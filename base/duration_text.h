// Durations in the form that people write and read: 250, 250ms, 30s, 5m, 2h, 7d. A number alone counts milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// Milliseconds. The unit may be in any case. Returns nullopt for anything else, and beyond 2^63 - 1.
std::optional<int64_t> ParseDuration(Bytes text);

// The shortest text with a whole number of the largest unit: "5m", "90s", "1500ms"; "0".
// Requires: milliseconds >= 0.
std::string DurationText(int64_t milliseconds);

}  // namespace respite
