// Ends the process where an allocation failed, when the system has no more memory.
//
// A failed allocation of any size ends the process, and nothing is thrown. This holds for requests, scripts, loading,
// background threads and children. So no code has to handle a state that almost never occurs, and no partial change
// becomes visible or reaches the append-only file. `operator new` (defined in out_of_memory.cc) and the memory of
// OpenSSL do this. Code that needs plain memory calls AllocateOrEnd.
//
// Three kinds of allocation may still fail: `new (std::nothrow)`, for memory that is not essential; the memory of a
// script (scripting/engine.h), which gets Lua's own error "not enough memory"; and functions of the C library, which
// report the failure in their result.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace respite {

// Calls the handler that SetOutOfMemoryHandler has set. Does not allocate.
[[noreturn]] void EndProcessOutOfMemory(size_t bytes) noexcept;  // ends the process, which lacks `bytes` bytes

// AllocateOrEnd and ReallocateOrEnd act like std::malloc and std::realloc, but never return null. Free the memory with
// std::free. ReallocateOrEnd requires: `bytes` is not 0.
inline void* AllocateOrEnd(size_t bytes) {  // malloc; ends the process instead of returning null
  void* memory = std::malloc(bytes);
  if (memory == nullptr) [[unlikely]]
    EndProcessOutOfMemory(bytes);
  return memory;
}
inline void* ReallocateOrEnd(void* memory, size_t bytes) {  // realloc; ends the process instead of returning null
  void* moved = std::realloc(memory, bytes);
  if (moved == nullptr) [[unlikely]]
    EndProcessOutOfMemory(bytes);
  return moved;
}
// Frees memory faster than std::free, because jemalloc need not look up the size. Requires: `memory` is not null.
void FreeSized(void* memory, size_t bytes) noexcept;  // frees memory; `bytes` must be the size that was requested

// The handler ends the process. Any thread may call the handler, which must not allocate and must not return. The
// default handler writes a line to standard error and calls abort().
using OutOfMemoryHandler = void (*)(size_t bytes);
void SetOutOfMemoryHandler(OutOfMemoryHandler handler);  // `handler` ends the process when memory is exhausted

// Must be called before any other OpenSSL function.
void GuardOpenSslMemory();  // makes OpenSSL allocate with AllocateOrEnd

}  // namespace respite
