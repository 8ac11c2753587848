// Memory figures: what the allocator handed out, and what the process uses.
//
// used_memory must be exact, and cheap enough to read before each command once maxmemory is set. jemalloc counts, per
// thread, all bytes that were ever allocated and freed; their difference is what the thread holds, apart from memory
// that one thread allocates and another frees. So the sum over all threads is what the program holds. Two threads
// allocate here: the server's thread and the Reclaimer's (MemoryGauge::UsedBytes adds them up). Sizes are those of
// jemalloc's size classes, as with Redis' malloc_usable_size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace respite {

// The allocation counters of one thread.
class ThreadMemory {
 public:
  ThreadMemory() = default;
  // Cost: the first call of a thread looks the counters up by name in jemalloc; further calls read a thread-local
  // variable.
  static ThreadMemory OfThisThread();

  // Bytes that the thread allocated minus bytes that it freed: negative for a thread that frees what others allocate. 0
  // for a default object. Any thread may call this while the measured thread lives. Cost: two loads.
  //
  // Without jemalloc the first thread that asks reports for the whole process and the others report 0.
  int64_t HeldBytes() const;

 private:
  const uint64_t* allocated_ = nullptr;
  const uint64_t* freed_ = nullptr;
};

struct AllocatorStats {
  size_t allocated = 0;  // in use by the program
  size_t active = 0;
  size_t resident = 0;
  size_t retained = 0;
  size_t muzzy = 0;
};
// Current figures from jemalloc (all zero with another allocator). Cost: some µs.
AllocatorStats ReadAllocator();

// "jemalloc-5.3.0", or "libc".
std::string AllocatorName();

// Resident set size of the process. Cost: reads /proc.
size_t ResidentBytes();

// Physical memory of the machine.
size_t SystemMemory();

// Returns unused pages to the system.
void PurgeAllocator();

// The allocator's own report in readable form; empty if it has none. Cost: some ms.
std::string AllocatorReport();

}  // namespace respite
