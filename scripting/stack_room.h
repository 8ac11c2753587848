// Measures the native stack that is left, for recursion whose depth a script controls. The creator of a thread chooses
// its stack size; for the main thread, `ulimit -s` does at the start.
#pragma once

#include <cstdint>

namespace respite {

// Returns the lowest address to which recursion may grow this thread's stack. The rest is reserved for functions that
// do not recurse. Cost: the first call on a thread asks the system.
uintptr_t StackFloor();

// Returns false if recursion must stop. Cost: a nanosecond.
inline bool HasStackRoom() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) > StackFloor(); }

}  // namespace respite
