// Intset: a sorted run of integers in one block, in the very layout of Redis, so that a packed set goes into a dump or
// an RDB file as it is.
//
//   intset = width (4 octets: 2, 4 or 8) | count (4) | value …      all little endian, values ascending, no two equal
//
// The width is that of the widest value there ever was; a wider one makes all values wider, and none becomes narrower.
//
// Example: {1, 300}:  02 00 00 00 | 02 00 00 00 | 01 00 | 2c 01
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "datatypes/packed_store.h"

namespace respite {

// Reads an intset. The bytes are borrowed, must be well formed, and are not changed as long as it is used.
class Intset {
 public:
  static constexpr size_t kHeader = 8;
  // An intset without values.
  static Bytes Empty() { return {"\x02\0\0\0\0\0\0\0", kHeader}; }

  explicit Intset(Bytes bytes) : bytes_(bytes) {}

  size_t Count() const;
  size_t Width() const;
  // Requires: index < Count().
  int64_t At(size_t index) const;
  // The index of the first value that is not below `value`; Count() if there is none. Cost: O(log n).
  size_t LowerBound(int64_t value) const;
  bool Contains(int64_t value) const;

  // Octets that a value takes at least: 2, 4 or 8.
  static size_t WidthOf(int64_t value);
  // True when `bytes` is an intset of as many octets as it says, with values in order. Cost: O(n).
  static bool IsWellFormed(Bytes bytes);

 private:
  Bytes bytes_;
};

// False when it is there already. Cost: O(n) octets moved.
bool AddToIntset(PackedStore& store, int64_t value);
// False when it is not there. Cost: O(n) octets moved.
bool RemoveFromIntset(PackedStore& store, int64_t value);
void RemoveFromIntsetAt(PackedStore& store, size_t index);

}  // namespace respite
