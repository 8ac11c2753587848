// What happens when the system has no more memory: the process ends, in the place where the allocation failed.
//
// There is one rule for requests, scripts, loading, background threads and children, and for allocations of every size:
// nothing is thrown, so no code has to be right in a state that is hardly ever reached, and no half-made change is
// seen by anybody or gets into the journal. `operator new` obeys it (it is defined in out_of_memory.cc), so does memory
// for OpenSSL, and whoever needs plain memory takes it from AllocateOrEnd.
//
// What may still fail: `new (std::nothrow)`, for memory that is not essential; memory of a script (scripting/engine.h),
// which gets Lua's own error "not enough memory"; and functions of the C library, which say so in their result.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace respite {

// Ends the process in the way that was chosen. Takes no memory.
[[noreturn]] void EndOutOfMemory(size_t bytes) noexcept;

// As std::malloc and std::realloc, but never null. Memory goes back with std::free.
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

// Chooses how the process ends. `ending` may be called on any thread; it must not take memory nor return. Before the
// first call: a line on standard error, then abort().
using OutOfMemoryEnding = void (*)(size_t bytes);
void ChooseOutOfMemoryEnding(OutOfMemoryEnding ending);

// Has OpenSSL take its memory from AllocateOrEnd. To be called before anything else of OpenSSL.
void GuardOpenSslMemory();

}  // namespace respite
