// A hint that a cache line will be read soon.
#pragma once

namespace respite {

inline void Prefetch(const void* address) {
  __builtin_prefetch(address);
  // g++ 12 takes a function that only prefetches for a pure one and drops calls to it. This costs no instruction.
  asm volatile("" : : "r"(address));
}

}  // namespace respite
