// FPHA of JSON.SET: arrays of numbers are stored with the precision of a floating-point type.
#pragma once

#include "base/bytes.h"
#include "datatypes/json/json_value.h"

namespace respite {

// Rounds the numbers of each array that contains only numbers. `type` is FP16, BF16, FP32 or FP64. Throws a Refusal for
// another type, and if a number is out of range for the type. Cost: O(values).
void RoundFloatArrays(JsonValue& value, Bytes type);  // rounds arrays of numbers to `type`

}  // namespace respite
