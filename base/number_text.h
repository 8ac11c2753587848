// Numbers as Redis reads and prints them.
//
// Parsers accept only the whole text: no surrounding space, nothing after the number. They do not depend on the locale
// as long as the process never calls setlocale(LC_NUMERIC) (Respite does not).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// The decimal text of an integer, stored in the object itself: no allocation. The Bytes are valid as long as the
// object.
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

  std::array<char, 20> digits_;  // for "-9223372036854775808", "18446744073709551615"
  uint8_t size_ = 0;
};

// Accepts exactly the texts that IntegerText prints: "0", or an optional '-' and digits without a leading zero, within
// the range of the type. So ParseInteger(x) succeeds if and only if x can be stored as an integer and printed back
// unchanged.
//
// Cost: about 1 ns per digit at most.
std::optional<int64_t> ParseInteger(Bytes text);
std::optional<uint64_t> ParseUnsigned(Bytes text);

// A float argument: decimal, exponent, hexadecimal, "inf", "infinity" with either sign, in any case. Refuses NaN,
// numbers that are too large, and numbers so small that they would read as zero. Cost: fast for ordinary decimals (no
// copy); other forms are copied once.
std::optional<double> ParseDouble(Bytes text);

// The same for the wide floats of INCRBYFLOAT and HINCRBYFLOAT, which are those of x86_64 on each processor. Redis:
// refuses texts of 5120 bytes and more.
std::optional<long double> ParseLongDouble(Bytes text);

// A score or RESP3 double: digits that read back to the same value (see grisu.h). Integers up to 2^62 print plainly;
// others as 0.000012, 12000000000000000000, 1.5e-7, 1e+20; special values as inf, -inf, nan, -0.
std::string DoubleText(double value);

// The same without the rule for integers: 10000000000 prints as 1e+10. Redis computes its digests of data from this
// form.
std::string ShortDoubleText(double value);

// The result of INCRBYFLOAT: at most 17 digits after the point, no trailing zeros, never an exponent, never "-0".
std::string LongDoubleText(long double value);

// Exactly `decimals` digits after the point, as INFO prints percentages and ratios. Requires: 0 <= decimals <= 40.
std::string FixedText(double value, int decimals);

}  // namespace respite
