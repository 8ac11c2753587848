// What the allocator handed out, and what the process takes.
#pragma once

#include <cstddef>
#include <string>

namespace respite {

// Bytes that the program holds. With jemalloc this is read from its own counters. Cost: under 1 µs.
size_t UsedMemory();

struct AllocatorStats {
  size_t allocated = 0;
  size_t active = 0;
  size_t resident = 0;
  size_t retained = 0;
  size_t muzzy = 0;
};
// Fresh figures from jemalloc (all zero with another allocator). Cost: some µs.
AllocatorStats ReadAllocator();

// Resident set size of the process. Cost: reads /proc.
size_t ResidentBytes();

// Physical memory of the machine.
size_t SystemMemory();

// Gives unused pages back to the system.
void PurgeAllocator();

// The allocator's own report for people; empty when it has none. Cost: some ms.
std::string AllocatorReport();

}  // namespace respite
