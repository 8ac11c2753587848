// What the allocator handed out, and what the process takes.
//
// used_memory must be exact, and cheap enough to look at before each command once maxmemory is set. jemalloc counts,
// per thread, the bytes it ever handed out and took back; their difference is what the thread holds, give or take what
// other threads free for it. So the sum over all threads is what the program holds. Two threads allocate here: the one
// that runs the server and the Reclaimer's (MemoryGauge::UsedBytes adds them up). Sizes are those of jemalloc's classes, as
// Redis' malloc_usable_size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace respite {

// The allocator's counters of one thread.
class ThreadMemory {
 public:
  ThreadMemory() = default;
  // Cost: a look-up by name in jemalloc for the first call of a thread, then a thread-local read.
  static ThreadMemory OfThisThread();

  // Allocated minus freed by the thread: negative for one that frees what others allocate. 0 for a default object. May
  // be asked from any thread while that thread lives. Cost: two loads.
  //
  // Without jemalloc the first thread that asks stands for the whole process and the others hold nothing.
  int64_t HeldBytes() const;

 private:
  const uint64_t* allocated_ = nullptr;
  const uint64_t* freed_ = nullptr;
};

struct AllocatorStats {
  size_t allocated = 0;  // handed out
  size_t active = 0;
  size_t resident = 0;
  size_t retained = 0;
  size_t muzzy = 0;
};
// Fresh figures from jemalloc (all zero with another allocator). Cost: some µs.
AllocatorStats ReadAllocator();

// "jemalloc-5.3.0", or "libc".
std::string AllocatorName();

// Resident set size of the process. Cost: reads /proc.
size_t ResidentBytes();

// Physical memory of the machine.
size_t SystemMemory();

// Gives unused pages back to the system.
void PurgeAllocator();

// The allocator's own report for people; empty when it has none. Cost: some ms.
std::string AllocatorReport();

}  // namespace respite
