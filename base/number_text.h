// Numbers as Redis reads and prints them.
//
// Parsers take the whole text or nothing: no surrounding space, nothing behind the number. No locale is consulted as
// long as the process never calls setlocale(LC_NUMERIC) (Respite does not).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// The decimal text of an integer, held in the object itself: no allocation. The Bytes die with it.
//   hash->Set(field, IntegerText(sum));
class IntegerText {
 public:
  explicit IntegerText(int64_t value);
  static IntegerText FromUnsigned(uint64_t value);

  operator Bytes() const { return View(); }  // NOLINT(google-explicit-constructor): it is a text
  Bytes View() const { return {digits_.data(), size_}; }
  std::string Text() const { return std::string(View()); }

 private:
  IntegerText() = default;

  std::array<char, 20> digits_;  // 20 = "-9223372036854775808", "18446744073709551615"
  uint8_t size_ = 0;
};

// Exactly the texts that IntegerText prints: "0", or an optional '-' and digits without a leading zero, within the
// type. So ParseInteger(x) succeeds if and only if x can be stored as an integer and printed back unchanged.
//
// Cost: about 1 ns per digit at most.
std::optional<int64_t> ParseInteger(Bytes text);
std::optional<uint64_t> ParseUnsigned(Bytes text);

// A float argument: decimal, exponent, hexadecimal, "inf", "infinity" with either sign, in any case. NaN is refused,
// and so is what is too large, or so small that it would read as zero. Cost: fast for ordinary decimals (no copy);
// other forms are copied once.
std::optional<double> ParseDouble(Bytes text);

// The same for the wide floats of INCRBYFLOAT and HINCRBYFLOAT. Redis: texts of 5120 octets and more are refused.
std::optional<long double> ParseLongDouble(Bytes text);

// A score or RESP3 double: digits that read back to the same value (see grisu.h). Integers up to 2^62 print plainly;
// others as 0.000012, 12000000000000000000, 1.5e-7, 1e+20; and inf, -inf, nan, -0.
std::string DoubleText(double value);

// The same without the rule for integers: 10000000000 is 1e+10. Redis' fingerprints of data are made from this.
std::string ShortDoubleText(double value);

// The result of INCRBYFLOAT: at most 17 digits behind the point, no trailing zeros, never an exponent, never "-0".
std::string LongDoubleText(long double value);

// Exactly `decimals` digits behind the point, as INFO prints percentages and ratios. Requires: 0 <= decimals <= 40.
std::string FixedText(double value, int decimals);

}  // namespace respite
