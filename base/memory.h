// Memory: figures of what the program and the process use, and small helpers: Prefetch, ShrinkSparse,
// RESPITE_SANITIZED.
//
// used_memory must be exact, and cheap enough to read before each command if maxmemory is set. For each thread,
// jemalloc counts all bytes that the thread ever allocated and freed. The difference is the memory that the thread
// holds, if no other thread frees its memory. In any case, the sum over all threads is the memory that the program
// holds. Two threads count here, the server's thread and the lazy free thread; MemoryGauge::UsedBytes adds them up.
// Sizes are those of jemalloc's size classes, like malloc_usable_size in Redis.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

// RESPITE_SANITIZED is defined if the build uses the address or thread sanitizer. Both have their own allocator.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RESPITE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RESPITE_SANITIZED
#endif
#endif

namespace respite {

// Returns the bytes that jemalloc allocates for a request of `bytes`: a multiple of 16 up to 128, then four sizes for
// each power of two.
constexpr size_t SizeClassOf(size_t bytes) {
  if (bytes <= 8) return 8;
  const size_t step = bytes <= 128 ? 16 : std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

// The allocation counters of one thread.
class ThreadMemory {
 public:
  ThreadMemory() = default;
  // Returns the counters of the calling thread. Cost: a thread's first call looks up the counters by name in jemalloc;
  // later calls read a thread-local variable.
  static ThreadMemory OfThisThread();

  // Returns the bytes that the thread allocated minus the bytes that it freed. The result is negative for a thread that
  // frees memory of other threads, and 0 for a default object. Any thread may call this while the measured thread
  // lives. Cost: two loads.
  //
  // Without jemalloc, the first thread that called OfThisThread reports for the whole process, and the others report 0.
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
// Reads the current figures from jemalloc (all zero with another allocator). Cost: some µs.
AllocatorStats ReadAllocator();

// Returns a text such as "jemalloc-5.3.0", or "libc".
std::string AllocatorName();

// Returns the resident set size of the process. Cost: reads /proc.
size_t ResidentBytes();

// Returns the physical memory of the machine, in bytes.
size_t SystemMemory();

// Returns unused pages to the system.
void PurgeAllocator();

// Returns the allocator's own report in readable form, or an empty text if it has none. Cost: some ms.
std::string AllocatorReport();

// Tells the processor that a cache line will be read soon.
inline void Prefetch(const void* address) {
  __builtin_prefetch(address);
  // g++ 12 treats a function that only prefetches as pure and drops calls to it. This line prevents that at no cost.
  asm volatile("" : : "r"(address));
}

// Frees unused buckets of a hash map that clients can fill. Those of the standard library never do so. Call this after
// an erase; it invalidates iterators. Cost: O(1) amortised.
template <class Map>
void ShrinkSparse(Map& map) {
  constexpr size_t kKeptBuckets = 128;
  constexpr size_t kSparse = 8;
  if (map.bucket_count() > kKeptBuckets && map.size() < map.bucket_count() / kSparse) map.rehash(0);
}

}  // namespace respite
