// Measures how much memory the program and the process use. Also has small helpers: Prefetch, ShrinkSparse and
// RESPITE_SANITIZED.
//
// INFO's used_memory must be exact, and cheap enough to read before each command if maxmemory is set. For each thread,
// jemalloc counts all bytes that the thread ever allocated and freed. The difference is the memory that the thread
// holds, if no other thread frees its memory. In any case, the sum over all threads is the memory that the program
// holds. The server's thread and its lazyfree threads count here; MemoryGauge::UsedBytes adds them up.
// Sizes are those of jemalloc's size classes, like malloc_usable_size in Redis.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

// RESPITE_SANITIZED is defined if the build uses the address or thread sanitizer. Each of these sanitizers has its own
// allocator.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RESPITE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RESPITE_SANITIZED
#endif
#endif

namespace respite {

inline constexpr bool kIsSanitized =  // whether RESPITE_SANITIZED is defined
#ifdef RESPITE_SANITIZED
    true;
#else
    false;
#endif

// jemalloc's size classes are 8, the multiples of 16 up to 128, and then four sizes for each power of two.
constexpr size_t SizeClassOf(size_t bytes) {  // the bytes that jemalloc allocates for a request of `bytes`
  if (bytes <= 8) return 8;
  const size_t step = bytes <= 128 ? 16 : std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

class ThreadMemory {  // how many bytes one thread has allocated and freed, as jemalloc counts
 public:
  ThreadMemory() = default;
  // The first call of a thread looks up jemalloc's counters by name. Later calls read a thread-local variable.
  static ThreadMemory OfThisThread();  // the allocation counters of the calling thread

  // Returns the bytes that the thread allocated minus the bytes that it freed. The result is negative for a thread that
  // frees memory of other threads, and 0 for a default object. Any thread may call this while the measured thread
  // lives. Cost: two loads.
  //
  // Without jemalloc, the first thread that called OfThisThread reports for the whole process, and the others report 0.
  int64_t HeldBytes() const;  // bytes allocated minus bytes freed by the thread; may be negative

  // Code that cuts large allocations into blocks (SlabPool) calls this when the bytes of free blocks change, so that
  // HeldBytes counts only the blocks in use. Without jemalloc: no effect.
  static void AddSpareBytes(int64_t bytes) {  // HeldBytes of this thread becomes less by `bytes`
    __atomic_store_n(&spare_bytes_of_this_thread_, spare_bytes_of_this_thread_ + bytes, __ATOMIC_RELAXED);
  }

 private:
  static constinit thread_local int64_t spare_bytes_of_this_thread_;  // sum of AddSpareBytes of this thread

  // Without jemalloc, HeldBytes of one thread reports the memory of the whole process. In this thread allocated_ is not
  // null, but its number means nothing. In other threads allocated_ is null.
  const uint64_t* allocated_ = nullptr;  // jemalloc's count of all bytes the thread ever allocated; null: not measured
  const uint64_t* freed_ = nullptr;      // jemalloc's count of all bytes the thread ever freed; null: not measured
  const int64_t* spare_ = nullptr;       // the thread's spare_bytes_of_this_thread_; null: not measured
};

struct AllocatorStats {  // jemalloc's statistics, in bytes
  size_t allocated = 0;  // bytes of all allocations that are in use; free blocks of a SlabPool count
  size_t active = 0;     // bytes of pages that have allocations
  size_t resident = 0;   // bytes of pages in physical memory
  size_t retained = 0;   // bytes of virtual memory that is kept without physical pages
  size_t muzzy = 0;      // always 0; INFO shows it as allocator_muzzy
};
// Cost: some µs.
AllocatorStats ReadAllocatorStats();  // jemalloc's statistics; all zero with another allocator

std::string AllocatorName();  // the allocator: a name such as "jemalloc-5.3.0", or "libc"

// Cost: reads /proc.
size_t ResidentBytes();  // physical memory that this process uses, in bytes; 0: unknown

size_t SystemMemory();  // physical memory of the machine, in bytes

void PurgeAllocator();  // makes jemalloc or the C library return unused pages to the system
// Decides who returns pages to the system that were not used for 0.1 s. Off: the threads that allocate and free, so
// an idle program keeps its pages, and a thread that frees much waits for the system. Without jemalloc: no effect.
void SetBackgroundPurging(bool is_on);  // on: threads of jemalloc return unused pages (jemalloc-bg-thread)

// Cost: some ms.
std::string AllocatorReport();  // the text of MEMORY MALLOC-STATS; empty if there is none

inline void Prefetch(const void* address) {  // starts to load the cache line at `address`, which will be read soon
  __builtin_prefetch(address);
  // g++ 12 treats a function that only prefetches as pure, and would drop the calls of Prefetch. This empty assembler
  // statement keeps the calls, and costs nothing.
  asm volatile("" : : "r"(address));
}

// Frees unused buckets of a hash map that clients can fill, because the standard library never frees buckets. Call
// ShrinkSparse after an erase. Makes all iterators invalid. Cost: O(1) amortised.
template <class Map>
void ShrinkSparse(Map& map) {  // frees buckets if the map has more than 128, and more than 8 for each element
  constexpr size_t kKeptBuckets = 128;
  constexpr size_t kSparse = 8;
  if (map.bucket_count() > kKeptBuckets && map.size() < map.bucket_count() / kSparse) map.rehash(0);
}

}  // namespace respite
