// Frees unused buckets of hash maps that clients can fill. Those of the standard library never do so.
#pragma once

#include <cstddef>

namespace respite {

// Call this after an erase; it invalidates iterators. Cost: O(1) amortised.
template <class Map>
void ShrinkSparse(Map& map) {
  constexpr size_t kKeptBuckets = 128;
  constexpr size_t kSparse = 8;
  if (map.bucket_count() > kKeptBuckets && map.size() < map.bucket_count() / kSparse) map.rehash(0);
}

}  // namespace respite
