// The shortest hash tag of each slot, made of letters and digits.
#pragma once

#include "base/bytes.h"

namespace respite {

// As in the tools of Redis, the tag of slot 0 is "06S", and that of slot 1 is "Qi". Cost: O(1), but the first call
// takes some milliseconds, because it makes a table for all nodes of the process.
Bytes TagOfSlot(int slot);  // a short text in this hash slot: "06S" for slot 0, "Qi" for slot 1

}  // namespace respite
