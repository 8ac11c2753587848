// A range of indexes in a list, or of ranks in a sorted set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace respite {

// From start to stop, inclusive. Negative numbers count from the end.
struct IndexRange {
  int64_t start = 0;
  int64_t stop = 0;

  struct Part {
    size_t first = 0;
    size_t count = 0;
  };
  // Returns the part of the range within `size` elements.
  Part Among(size_t size) const {
    const auto length = static_cast<int64_t>(size);
    const int64_t first = std::max<int64_t>(start < 0 ? start + length : start, 0);
    const int64_t last = std::min(stop < 0 ? stop + length : stop, length - 1);
    if (first > last) return {};
    return {static_cast<size_t>(first), static_cast<size_t>(last - first + 1)};
  }
};

}  // namespace respite
