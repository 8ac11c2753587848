// What happens when the system has no more memory: the process ends where the allocation failed.
//
// One rule holds for requests, scripts, loading, background threads and children, and for allocations of every size:
// nothing is thrown. So no code has to be correct in a state that almost never occurs, and no partial change becomes
// visible or reaches the append-only file. `operator new` follows this rule (it is defined in out_of_memory.cc), and so
// does the memory of OpenSSL; code that needs plain memory calls AllocateOrEnd.
//
// These may still fail: `new (std::nothrow)`, for memory that is not essential; the memory of a script
// (scripting/engine.h), which gets Lua's own error "not enough memory"; and functions of the C library, which report it
// in their result.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace respite {

// Ends the process in the chosen way. Does not allocate.
[[noreturn]] void EndOutOfMemory(size_t bytes) noexcept;

// As std::malloc and std::realloc, but never returns null. Free the memory with std::free.
inline void* AllocateOrEnd(size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) [[unlikely]]
    EndOutOfMemory(bytes);
  return memory;
}
inline void* ReallocateOrEnd(void* memory, size_t bytes) {
  void* moved = std::realloc(memory, bytes);
  if (moved == nullptr) [[unlikely]]
    EndOutOfMemory(bytes);
  return moved;
}
// As std::free, for memory (not null) of which the caller knows the size that it asked for: jemalloc need not look it
// up.
void FreeOfSize(void* memory, size_t bytes) noexcept;

// Chooses how the process ends. Any thread may call `ending`; it must not allocate and must not return. Default: write
// a line to standard error, then abort().
using OutOfMemoryEnding = void (*)(size_t bytes);
void ChooseOutOfMemoryEnding(OutOfMemoryEnding ending);

// Makes OpenSSL allocate with AllocateOrEnd. Must be called before any other function of OpenSSL.
void GuardOpenSslMemory();

}  // namespace respite
