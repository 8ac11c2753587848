// Numbers as Redis reads and prints them.
//
// Parsers accept only the whole text: no surrounding space, nothing after the number. They do not depend on the locale
// unless the process calls setlocale(LC_NUMERIC), which Respite never does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// The decimal text of an integer, stored in the object without allocation. The result of View() is valid as long as the
// object exists.
//   hash->Set(field, IntegerText(sum));
class IntegerText {  // the decimal text of an integer, stored without allocation
 public:
  explicit IntegerText(int64_t value);
  static IntegerText FromUnsigned(uint64_t value);  // the text of a number, also above INT64_MAX

  operator Bytes() const { return View(); }  // NOLINT(google-explicit-constructor): it is a text
  Bytes View() const { return {digits_.data(), size_}; }
  std::string Text() const { return std::string(View()); }

 private:
  IntegerText() = default;

  std::array<char, 20> digits_;  // the printed number; the longest is "-9223372036854775808"
  uint8_t size_ = 0;
};

// Accepts exactly the texts that IntegerText prints: "0", or an optional '-' and digits without a leading zero, within
// the range of the type. So ParseInteger(x) succeeds if and only if x can be stored as an integer and printed back
// unchanged.
//
// Cost: about 1 ns per digit at most.
std::optional<int64_t> ParseInteger(Bytes text);    // reads "-7", not "+7", "07" or " 7"; nullopt: invalid
std::optional<uint64_t> ParseUnsigned(Bytes text);  // reads "7", not "+7", "07" or " 7"; nullopt: invalid

// Parses a float argument: decimal, exponent, hexadecimal, "inf" or "infinity" with either sign, in any case. Refuses
// NaN, numbers that are too large, and numbers so small that they would read as zero. Cost: ordinary decimals are fast
// (no copy); other forms are copied once.
std::optional<double> ParseDouble(Bytes text);  // reads a client's float, such as 1.5e3 or inf; nullopt: invalid

// Parses a long double for INCRBYFLOAT and HINCRBYFLOAT, with the precision of x86_64 on every processor. As Redis
// does, refuses texts of 5120 bytes and more.
std::optional<long double> ParseLongDouble(Bytes text);  // reads a more exact float, for INCRBYFLOAT; nullopt: invalid

// The digits read back as the double that was printed (see grisu.h). Integers up to 2^62 are printed plainly, others as
// 0.000012, 1234567890.5, 1.5e-7, 1e+20, and special values as inf, -inf, nan, -0.
std::string DoubleText(double value);  // prints a score or a RESP3 double

// Prints a score as DEBUG DIGEST needs it: Redis computes the digests from scores in this form.
std::string ShortDoubleText(double value);  // like DoubleText, but prints 10000000000 as 1e+10

// Prints no trailing zeros, no exponent, and never "-0".
std::string LongDoubleText(long double value);  // prints a result of INCRBYFLOAT, with at most 17 decimals

// Prints a number as INFO prints percentages. Requires: 0 <= decimals <= 40.
std::string FixedText(double value, int decimals);  // prints exactly `decimals` digits after the point

}  // namespace respite
