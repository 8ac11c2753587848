// Tells the processor that a cache line will be read soon.
#pragma once

namespace respite {

inline void Prefetch(const void* address) {
  __builtin_prefetch(address);
  // g++ 12 treats a function that only prefetches as pure and drops calls to it. This line prevents that at no cost.
  asm volatile("" : : "r"(address));
}

}  // namespace respite
