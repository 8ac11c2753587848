// The shortest hash tag of each slot, made of letters and digits.
#pragma once

#include "base/bytes.h"

namespace respite {

// The tags are those that the tools of Redis use. Cost: O(1), but the first call in a process takes some milliseconds,
// because it makes a table of all tags.
Bytes TagOfSlot(int slot);  // the shortest text that hashes to this slot: "06S" for slot 0, "Qi" for slot 1

}  // namespace respite
