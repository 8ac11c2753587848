// Hash maps of the standard library never give back their buckets. What clients can fill does, once it is nearly empty.
#pragma once

#include <cstddef>

namespace respite {

// To be called after an erase; iterators are invalid afterwards. Cost: O(1) amortised.
template <class Map>
void ShrinkSparse(Map& map) {
  constexpr size_t kKeptBuckets = 128;
  constexpr size_t kSparse = 8;
  if (map.bucket_count() > kKeptBuckets && map.size() < map.bucket_count() / kSparse) map.rehash(0);
}

}  // namespace respite
