// Intset: sorted integers in one block of memory, in exactly the layout of Redis. So a packed set is written to a dump
// or an RDB file unchanged.
//
//   intset = width (4 bytes: 2, 4 or 8) | count (4) | value …      all little endian, values ascending, no two equal
//
// The width fits the widest value ever added. A wider value widens all others, and the width never shrinks.
//
// Example: {1, 300}:  02 00 00 00 | 02 00 00 00 | 01 00 | 2c 01
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "datatypes/packed_store.h"

namespace respite {

// The bytes must be well formed, and must not change while the Intset is used.
class Intset {  // reads Redis' encoding of a small set of integers; the bytes are borrowed
 public:
  static constexpr size_t kHeader = 8;                              // bytes of the header: width and count
  static Bytes Empty() { return {"\x02\0\0\0\0\0\0\0", kHeader}; }  // the bytes of an empty intset

  explicit Intset(Bytes bytes) : bytes_(bytes) {}

  size_t Count() const;  // number of values
  size_t Width() const;  // bytes per value: 2, 4 or 8
  // Requires: index < Count().
  int64_t At(size_t index) const;
  // Cost: O(log n).
  size_t LowerBound(int64_t value) const;  // index of the first number >= `value`; Count(): there is none
  bool Contains(int64_t value) const;      // true: the intset has this value

  static size_t WidthOf(int64_t value);  // bytes that an intset needs for this value: 2, 4 or 8
  // Cost: O(n).
  static bool IsWellFormed(Bytes bytes);  // true: an intset, sorted, and as long as its header says

 private:
  Bytes bytes_;  // the whole intset
};

// Cost: O(n) bytes moved.
bool AddToIntset(PackedStore& store, int64_t value);  // adds a value; false: the value exists already
// Cost: O(n) bytes moved.
bool RemoveFromIntset(PackedStore& store, int64_t value);   // removes a value; false: there is no such value
void RemoveFromIntsetAt(PackedStore& store, size_t index);  // removes value number `index`; the lowest is number 0

}  // namespace respite
