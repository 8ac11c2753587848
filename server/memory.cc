#include "server/memory.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#ifdef RESPITE_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

namespace respite {

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

size_t UsedMemory() {
  Refresh();
  return ReadSize("stats.allocated");
}

AllocatorStats ReadAllocator() {
  Refresh();
  return {.allocated = ReadSize("stats.allocated"),
          .active = ReadSize("stats.active"),
          .resident = ReadSize("stats.resident"),
          .retained = ReadSize("stats.retained"),
          .muzzy = 0};
}

void PurgeAllocator() {
  std::string all = "arena." + std::to_string(MALLCTL_ARENAS_ALL) + ".purge";
  mallctl(all.c_str(), nullptr, nullptr, nullptr, 0);
}

std::string AllocatorReport() {
  std::string report;
  auto append = [](void* target, const char* text) { static_cast<std::string*>(target)->append(text); };
  malloc_stats_print(append, &report, nullptr);
  return report;
}

#else

size_t UsedMemory() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

AllocatorStats ReadAllocator() { return {}; }

void PurgeAllocator() { malloc_trim(0); }

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
