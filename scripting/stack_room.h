// How much of the native stack is left, for recursion whose depth a script controls. A thread has the size that its
// creator chose, the main thread the size that `ulimit -s` set at the start.
#pragma once

#include <cstdint>

namespace respite {

// The lowest address to which recursion may grow this thread's stack; the rest is kept for functions that do not
// recurse. Cost: the first call on a thread asks the system.
uintptr_t StackFloor();

// Returns false if recursion must stop. Cost: a nanosecond.
inline bool HasStackRoom() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) > StackFloor(); }

}  // namespace respite
