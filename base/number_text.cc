#include "base/number_text.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <system_error>

#include "base/grisu.h"

namespace respite {

namespace {

// 19 decimal digits always fit into 64 unsigned bits, so only a twentieth digit needs a check.
constexpr size_t kSafeDigits = 19;

// Returns the value of 1 to 20 decimal digits without a leading zero ("0" itself is valid). Returns nullopt for other
// texts, and for numbers above 2^64 - 1.
std::optional<uint64_t> ParseMagnitude(Bytes digits) {
  if (digits.empty() || digits.size() > kSafeDigits + 1) return std::nullopt;
  if (digits.front() == '0') return digits.size() == 1 ? std::optional<uint64_t>(0) : std::nullopt;
  uint64_t value = 0;
  for (const char c : digits.substr(0, kSafeDigits)) {
    if (!IsDigit(c)) return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  if (digits.size() <= kSafeDigits) return value;
  if (!IsDigit(digits.back())) return std::nullopt;
  const auto last = static_cast<uint64_t>(digits.back() - '0');
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  if (value > kMax / 10 || (value == kMax / 10 && last > kMax % 10)) return std::nullopt;
  return value * 10 + last;
}

double ToFloat(const char* text, char** end, double /*kind*/) { return std::strtod(text, end); }
long double ToFloat(const char* text, char** end, long double /*kind*/) { return std::strtold(text, end); }

// Rounds `value` to the 64 bits of precision that a long double has on x86_64. On other processors, a long double may
// have more bits, and would print other digits.
long double Narrowed(long double value) {
  constexpr int kBits = 64;
  if constexpr (std::numeric_limits<long double>::digits > kBits) {
    int exponent = 0;
    const long double fraction = std::frexp(value, &exponent);
    return std::isfinite(value) ? std::ldexp(std::rint(std::ldexp(fraction, kBits)), exponent - kBits) : value;
  }
  return value;
}

// ParseRareFloat parses a number with the C library, which handles the rare forms: '+', hexadecimal, infinities,
// overflow, denormals.
template <typename Float>
std::optional<Float> ParseRareFloat(Bytes text) {
  if (text.empty() || IsSpace(text.front())) return std::nullopt;
  const std::string terminated(text);
  char* end = nullptr;
  errno = 0;
  const Float value = ToFloat(terminated.c_str(), &end, Float{});
  const bool out_of_range = errno == ERANGE && (std::isinf(value) || value == 0);
  if (end != terminated.c_str() + text.size() || out_of_range || std::isnan(value)) return std::nullopt;
  return value;
}

template <typename Float>
std::optional<Float> ParseFloat(Bytes text) {
  Float value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && std::isfinite(value)) return value;
  return ParseRareFloat<Float>(text);
}

std::string PlainText(const Decimal& decimal) {
  std::string text(decimal.Digits());
  if (decimal.scale >= 0) return text.append(static_cast<size_t>(decimal.scale), '0');
  const auto decimals = static_cast<size_t>(-decimal.scale);
  if (decimals < text.size()) return text.insert(text.size() - decimals, 1, '.');
  return "0." + std::string(decimals - text.size(), '0') + text;
}

int ExponentOf(const Decimal& decimal) { return decimal.scale + static_cast<int>(decimal.size) - 1; }

std::string ExponentText(const Decimal& decimal) {
  std::string text(decimal.Digits());
  if (decimal.size > 1) text.insert(1, 1, '.');
  const int exponent = ExponentOf(decimal);
  text.append(exponent < 0 ? "e-" : "e+");
  return text.append(IntegerText(std::abs(exponent)));
}

// Returns true if the number is printed without an exponent. As in Redis, an integer may end with up to 7 zeros, and a
// fraction may have up to 6 decimals. From 0.001 to below 10000, a fraction may have more decimals.
bool PrintsPlainly(const Decimal& decimal) {
  const int exponent = std::abs(ExponentOf(decimal));
  if (decimal.scale >= 0) return exponent < static_cast<int>(decimal.size) + 7;
  return decimal.scale > -7 || exponent < 4;
}

// Returns true for an integer from -2^62 to 2^62. As in Redis, DoubleText prints these without an exponent, whatever
// the number of zeros.
bool IsPlainInteger(double value) {
  constexpr double kLimit = 4611686018427387904.0;  // 2^62
  return std::fabs(value) <= kLimit && value == std::trunc(value);
}

}  // namespace

IntegerText::IntegerText(int64_t value)
    : size_(static_cast<uint8_t>(std::to_chars(digits_.data(), digits_.data() + digits_.size(), value).ptr -
                                 digits_.data())) {}

IntegerText IntegerText::FromUnsigned(uint64_t value) {
  IntegerText text;
  char* begin = text.digits_.data();
  text.size_ = static_cast<uint8_t>(std::to_chars(begin, begin + text.digits_.size(), value).ptr - begin);
  return text;
}

std::optional<int64_t> ParseInteger(Bytes text) {
  const bool negative = !text.empty() && text.front() == '-';
  const std::optional<uint64_t> magnitude = ParseMagnitude(negative ? text.substr(1) : text);
  if (!magnitude) return std::nullopt;
  if (!negative) return *magnitude >> 63 == 0 ? std::optional(static_cast<int64_t>(*magnitude)) : std::nullopt;
  constexpr uint64_t kLowest = uint64_t{1} << 63;
  if (*magnitude == 0 || *magnitude > kLowest) return std::nullopt;
  return static_cast<int64_t>(0 - *magnitude);
}

std::optional<uint64_t> ParseUnsigned(Bytes text) { return ParseMagnitude(text); }

std::optional<double> ParseDouble(Bytes text) { return ParseFloat<double>(text); }

std::optional<long double> ParseLongDouble(Bytes text) {
  constexpr size_t kMaxSize = 5120;
  if (text.size() >= kMaxSize) return std::nullopt;
  const auto value = ParseRareFloat<long double>(text);
  return value ? std::optional(Narrowed(*value)) : std::nullopt;
}

std::string DoubleText(double value) {
  if (IsPlainInteger(value) && value != 0) return IntegerText(static_cast<int64_t>(value)).Text();
  return ShortDoubleText(value);
}

std::string ShortDoubleText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  const Decimal decimal = ShortDecimal(value);
  std::string text = PrintsPlainly(decimal) ? PlainText(decimal) : ExponentText(decimal);
  if (value < 0) text.insert(0, 1, '-');
  return text;
}

std::string LongDoubleText(long double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 5120> buffer;  // the widest value has 4933 digits before the point
  const int size = std::snprintf(buffer.data(), buffer.size(), "%.17Lf", Narrowed(value));
  Bytes text(buffer.data(), static_cast<size_t>(size));
  while (text.back() == '0') text.remove_suffix(1);
  if (text.back() == '.') text.remove_suffix(1);
  return std::string(text == "-0" ? Bytes("0") : text);
}

std::string FixedText(double value, int decimals) {
  std::array<char, 360> buffer;  // 309 digits, a sign, a point and the decimals
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals).ptr;
  return std::string(buffer.data(), end);
}

}  // namespace respite
