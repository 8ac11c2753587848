#include "base/memory.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "base/str_cat.h"

#ifdef RESPITE_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

// <sanitizer/allocator_interface.h> tells how much memory a program with a sanitizer uses. mallinfo does not count this
// memory, because a sanitizer has its own allocator.
#ifdef RESPITE_SANITIZED
#include <sanitizer/allocator_interface.h>
#endif

#ifdef RESPITE_JEMALLOC
// jemalloc reads this variable when the program starts. It returns pages that were not used again for 0.1 s, not for
// 10 s: a hash table that grows leaves many of them. And it has one thread that returns them: if the system refuses a
// further one, jemalloc 5.3 tries again and again without a pause, and writes a message each time.
const char* malloc_conf = "dirty_decay_ms:100,max_background_threads:1";
#endif

namespace respite {

constinit thread_local int64_t ThreadMemory::spare_bytes_of_this_thread_ = 0;

#ifdef RESPITE_JEMALLOC

namespace {

size_t ReadSize(const char* name) {
  size_t value = 0;
  size_t length = sizeof value;
  mallctl(name, &value, &length, nullptr, 0);
  return value;
}

void Refresh() {
  uint64_t epoch = 1;
  size_t length = sizeof epoch;
  mallctl("epoch", &epoch, &length, &epoch, length);
}

}  // namespace

ThreadMemory ThreadMemory::OfThisThread() {
  thread_local const ThreadMemory memory = [] {
    ThreadMemory found;
    size_t length = sizeof(uint64_t*);
    mallctl("thread.allocatedp", &found.allocated_, &length, nullptr, 0);
    mallctl("thread.deallocatedp", &found.freed_, &length, nullptr, 0);
    found.spare_ = &spare_bytes_of_this_thread_;
    return found;
  }();
  return memory;
}

int64_t ThreadMemory::HeldBytes() const {
  if (allocated_ == nullptr || freed_ == nullptr) return 0;
  // The measured thread may update the counters during this reading, without locks. The counters are aligned words, so
  // a reading may be outdated but never mixes an old and a new value.
  uint64_t freed = __atomic_load_n(freed_, __ATOMIC_RELAXED);
  const int64_t spare = __atomic_load_n(spare_, __ATOMIC_RELAXED);
  return static_cast<int64_t>(__atomic_load_n(allocated_, __ATOMIC_RELAXED) - freed) - spare;
}

std::string AllocatorName() {
  return StrCat("jemalloc-", JEMALLOC_VERSION_MAJOR, ".", JEMALLOC_VERSION_MINOR, ".", JEMALLOC_VERSION_BUGFIX);
}

AllocatorStats ReadAllocatorStats() {
  Refresh();
  // jemalloc counts the memory in the caches of threads (tcache) as allocated, but the program does not use this
  // memory.
  const std::string cached = StrCat("stats.arenas.", MALLCTL_ARENAS_ALL, ".tcache_bytes");
  return {.allocated = ReadSize("stats.allocated") - ReadSize(cached.c_str()),
          .active = ReadSize("stats.active"),
          .resident = ReadSize("stats.resident"),
          .retained = ReadSize("stats.retained"),
          .muzzy = 0};
}

void PurgeAllocator() {
  std::string all = StrCat("arena.", MALLCTL_ARENAS_ALL, ".purge");
  mallctl(all.c_str(), nullptr, nullptr, nullptr, 0);
}

void SetBackgroundPurging(bool is_on) { mallctl("background_thread", nullptr, nullptr, &is_on, sizeof is_on); }

std::string AllocatorReport() {
  std::string report;
  auto append = [](void* target, const char* text) { static_cast<std::string*>(target)->append(text); };
  malloc_stats_print(append, &report, nullptr);
  return report;
}

#else

namespace {

size_t ProcessHeldBytes() {
#ifdef RESPITE_SANITIZED
  return __sanitizer_get_current_allocated_bytes();
#else
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

}  // namespace

ThreadMemory ThreadMemory::OfThisThread() {
  static const uint64_t whole_process = 0;
  static const std::thread::id first = std::this_thread::get_id();
  ThreadMemory memory;
  if (std::this_thread::get_id() == first) memory.allocated_ = &whole_process;
  return memory;
}

int64_t ThreadMemory::HeldBytes() const { return allocated_ == nullptr ? 0 : static_cast<int64_t>(ProcessHeldBytes()); }

std::string AllocatorName() { return "libc"; }

AllocatorStats ReadAllocatorStats() { return {}; }

void PurgeAllocator() { malloc_trim(0); }

void SetBackgroundPurging(bool /*is_on*/) {}

std::string AllocatorReport() { return {}; }

#endif

size_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long total = 0;
  unsigned long resident = 0;
  int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

size_t SystemMemory() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace respite
