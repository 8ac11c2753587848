// The decimal digits of a double by the Grisu2 method (Florian Loitsch, "Printing Floating-Point Numbers Quickly and
// Accurately with Integers", PLDI 2010).
//
// The digits always read back to the same double, and for 99.6 % of doubles they are also the fewest and closest; for
// the rest Grisu2 settles for its own approximation (5e22 has 17 digits). std::to_chars has no such flaw, but Redis
// prints these very digits, and whoever compares replies byte for byte sees the difference.
#pragma once

#include <array>
#include <cstddef>

#include "base/bytes.h"

namespace respite {

struct Decimal {
  std::array<char, 20> digits;  // no leading zero
  size_t size;
  int scale;  // value = digits * 10^scale

  Bytes Digits() const { return {digits.data(), size}; }
};

// The magnitude of `value`; the sign is ignored. Requires: finite, not zero. Cost: about 50 ns.
Decimal ShortDecimal(double value);

}  // namespace respite
