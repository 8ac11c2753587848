// How much of the machine's stack is left, for recursion whose depth a script chooses: a thread has as much as its
// creator gave it, the first one as much as `ulimit -s` said at the start.
#pragma once

#include <cstdint>

namespace respite {

// The lowest address to which this thread's stack may grow while enough stays free for what does not recurse. Cost: the
// first call on a thread asks the system.
uintptr_t StackFloor();

// False when it is time to give up. Cost: a nanosecond.
inline bool HasStackRoom() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) > StackFloor(); }

}  // namespace respite
