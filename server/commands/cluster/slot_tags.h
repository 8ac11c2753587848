// The shortest hash tag of each slot, made of letters and digits.
#pragma once

#include "base/bytes.h"

namespace respite {

// Returns "06S" for slot 0, "Qi" for slot 1. Redis' tools use the same tags. Cost: O(1); the first call makes a table
// that all nodes of the process share, which takes some milliseconds.
Bytes TagOfSlot(int slot);  // a short text in this hash slot: "06S" for slot 0, "Qi" for slot 1

}  // namespace respite
