// The shortest hash tag of each slot, of letters and digits.
#pragma once

#include "base/bytes.h"

namespace respite {

// "06S" for slot 0, "Qi" for slot 1: the tags that Redis' tools use, too. Cost: O(1); the first call makes a table that
// all nodes of the process share, which takes some milliseconds.
Bytes TagOfSlot(int slot);

}  // namespace respite
