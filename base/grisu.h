// Computes the decimal digits of a double by the Grisu2 method (Florian Loitsch, "Printing Floating-Point Numbers
// Quickly and Accurately with Integers", PLDI 2010).
//
// The digits always read back as the double that was printed. For more than 99.8 % of random doubles, these are also
// the fewest and closest digits. For the others, Grisu2 gives more digits (5e22 has 17), or digits that are not the
// closest. std::to_chars always finds the best digits. But Redis prints the digits of Grisu2, and clients that compare
// replies byte for byte see the difference.
#pragma once

#include <array>
#include <cstddef>

#include "base/bytes.h"

namespace respite {

struct Decimal {                // the decimal digits of a double without its sign, and their power of ten
  std::array<char, 20> digits;  // the decimal digits as text, without a leading zero
  size_t size;                  // number of digits in use
  int scale;                    // absolute value = digits * 10^scale

  Bytes Digits() const { return {digits.data(), size}; }  // the digits without sign and decimal point
};

// Returns the digits of the absolute value. Requires: `value` is finite and not zero. Cost: about 50 ns.
Decimal ShortDecimal(double value);  // converts a double to few decimal digits (Grisu2)

}  // namespace respite
