// ParseJson: reads a JSON text (RFC 8259) into a JsonValue. RapidJSON does the work, without recursion.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "datatypes/json/json_value.h"

namespace respite {

// Refuses what is not JSON: comments, trailing commas, NaN, invalid UTF-8, lone surrogates, bytes after the value. Also
// refuses numbers that are too large for a double, and values that are nested deeper than `max_depth`. The error names
// the line and the column, counted in bytes from 1. Cost: O(n), or O(n log n) for objects with many members.
Result<JsonValue, std::string> ParseJson(Bytes text,  // reads one JSON value; the error says what is wrong
                                         size_t max_depth = JsonValue::kMaxDepth);

}  // namespace respite
