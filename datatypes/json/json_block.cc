#include "datatypes/json/json_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/out_of_memory.h"

namespace respite {

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Floating-point numbers of 16 bits. They are made from a float, so a double may be rounded twice. This can only make a
// number look as if it did not fit.

constexpr uint32_t kFloatMantissaBits = 23;
constexpr int kFloatBias = 127;

// IEEE 754 half precision: sign, 5 bits of exponent, 10 bits of mantissa. Infinity stands for a number out of range.
uint16_t ToFloat16(float number) {
  constexpr int kBias = 15, kMaxExponent = 31;
  constexpr uint32_t kDropped = kFloatMantissaBits - 10;
  const auto bits = std::bit_cast<uint32_t>(number);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const int exponent = static_cast<int>(bits >> kFloatMantissaBits & 255) - kFloatBias + kBias;
  const uint32_t mantissa = bits & ((1U << kFloatMantissaBits) - 1);
  const auto round = [](uint32_t value, uint32_t dropped) {  // to the nearest, and to the even one of two
    const uint32_t half = 1U << (dropped - 1);
    return (value + half - 1 + (value >> dropped & 1)) >> dropped;
  };
  if (exponent >= kMaxExponent) return sign | kMaxExponent << 10;
  // A carry of the mantissa raises the exponent, perhaps to the one of infinity.
  if (exponent > 0)
    return sign | static_cast<uint16_t>(round(static_cast<uint32_t>(exponent) << 23 | mantissa, kDropped));
  if (exponent < -10) return sign;
  const uint32_t subnormal = mantissa | 1U << kFloatMantissaBits;
  return sign | static_cast<uint16_t>(round(subnormal, kDropped + 1 + static_cast<uint32_t>(-exponent)));
}

double FromFloat16(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double size =
      exponent == 31 ? INFINITY : std::ldexp(exponent == 0 ? mantissa : mantissa + 1024, std::max(exponent, 1) - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

uint16_t ToBfloat16(float number) {  // the upper half of a float, rounded
  const auto bits = std::bit_cast<uint32_t>(number);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double FromBfloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// ---------------------------------------------------------------------------------------------------------------------
// Shortest decimal numbers

constexpr std::array<double, 23> kPowersOfTen = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};  // exact doubles

// Returns the decimal number with the fewest digits whose encode(number) is `bits`; `number` itself if it would need
// more than five digits, or a power of ten that no double has exactly.
template <class Encode>
double ShortestDecimal(double number, uint16_t bits, Encode&& encode) {
  constexpr int kMaxDigits = 5;
  if (number == 0 || !std::isfinite(number)) return number;
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(number))));
  for (int digits = 1; digits <= kMaxDigits; ++digits) {
    const int shift = digits - 1 - magnitude;  // of the decimal point, so that an integer with `digits` digits results
    if (std::abs(shift) >= static_cast<int>(kPowersOfTen.size())) continue;
    const double power = kPowersOfTen[static_cast<size_t>(std::abs(shift))];
    const double integer = std::nearbyint(shift >= 0 ? number * power : number / power);
    const double decimal = shift >= 0 ? integer / power : integer * power;
    if (encode(static_cast<float>(decimal)) == bits) return decimal;
  }
  return number;
}

// Returns the shortest decimal number that rounds to `number`. It has at most nine digits, so an integer divided or
// multiplied by an exact power of ten is the same double that a parser would return.
double ShortestDecimal32(float number) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific);
  const char* at = text.data() + (text.front() == '-' ? 1 : 0);
  int64_t integer = 0;
  int digits = 0;
  for (; at != end.ptr && *at != 'e'; ++at) {
    if (*at == '.') continue;
    integer = integer * 10 + (*at - '0');
    ++digits;
  }
  int exponent = 0;  // of the first digit
  if (at + 2 < end.ptr) std::from_chars(at + (at[1] == '+' ? 2 : 1), end.ptr, exponent);
  const int shift = exponent - (digits - 1);
  double decimal = 0;
  if (!std::isfinite(number) || static_cast<size_t>(std::abs(shift)) >= kPowersOfTen.size()) {
    std::from_chars(text.data(), end.ptr, decimal);
    return decimal;
  }
  const double power = kPowersOfTen[static_cast<size_t>(std::abs(shift))];
  decimal = shift >= 0 ? static_cast<double>(integer) * power : static_cast<double>(integer) / power;
  return text.front() == '-' ? -decimal : decimal;
}

// ---------------------------------------------------------------------------------------------------------------------
// Types

template <class T>
T ReadPacked(const char* place) {
  T number;
  std::memcpy(&number, place, sizeof(T));
  return number;
}

template <class T>
bool WritePacked(char* place, T number) {
  std::memcpy(place, &number, sizeof(T));
  return true;
}

template <class T>
bool PutInteger(char* place, const JsonValue& value) {
  if (!value.Is(JsonKind::kInteger) || !std::in_range<T>(value.AsInteger())) return false;
  return WritePacked(place, static_cast<T>(value.AsInteger()));
}

double ReadFloat(JsonPackedType type, const char* place) {
  if (type == JsonPackedType::kFloat32) return ReadPacked<float>(place);
  if (type == JsonPackedType::kDecimal32) return ShortestDecimal32(ReadPacked<float>(place));
  const auto bits = ReadPacked<uint16_t>(place);
  switch (type) {
    case JsonPackedType::kFloat16:
      return FromFloat16(bits);
    case JsonPackedType::kBfloat16:
      return FromBfloat16(bits);
    case JsonPackedType::kDecimal16:
      return ShortestDecimal(FromFloat16(bits), bits, ToFloat16);
    default:
      return ShortestDecimal(FromBfloat16(bits), bits, ToBfloat16);
  }
}

bool PutFloat(JsonPackedType type, char* place, const JsonValue& value) {
  if (!value.Is(JsonKind::kNumber)) return false;
  const double number = value.AsNumber();
  if (std::fabs(number) > std::numeric_limits<float>::max()) return false;
  const auto narrow = static_cast<float>(number);
  switch (type) {
    case JsonPackedType::kFloat32:
    case JsonPackedType::kDecimal32:
      WritePacked(place, narrow);
      break;
    case JsonPackedType::kFloat16:
    case JsonPackedType::kDecimal16:
      WritePacked(place, ToFloat16(narrow));
      break;
    default:
      WritePacked(place, ToBfloat16(narrow));
  }
  return std::bit_cast<uint64_t>(ReadFloat(type, place)) == std::bit_cast<uint64_t>(number);
}

size_t WidthOf(JsonPackedType type) {
  switch (type) {
    case JsonPackedType::kInt8:
    case JsonPackedType::kUint8:
      return 1;
    case JsonPackedType::kInt32:
    case JsonPackedType::kUint32:
    case JsonPackedType::kFloat32:
    case JsonPackedType::kDecimal32:
      return 4;
    default:
      return 2;
  }
}

bool PutPacked(JsonPackedType type, char* place, const JsonValue& value) {
  switch (type) {
    case JsonPackedType::kInt8:
      return PutInteger<int8_t>(place, value);
    case JsonPackedType::kUint8:
      return PutInteger<uint8_t>(place, value);
    case JsonPackedType::kInt16:
      return PutInteger<int16_t>(place, value);
    case JsonPackedType::kUint16:
      return PutInteger<uint16_t>(place, value);
    case JsonPackedType::kInt32:
      return PutInteger<int32_t>(place, value);
    case JsonPackedType::kUint32:
      return PutInteger<uint32_t>(place, value);
    default:
      return PutFloat(type, place, value);
  }
}

// The types that are tried for an array, the narrowest first. A type whose numbers are cheaper to read comes first.
constexpr JsonPackedType kPackedIntegerTypes[] = {JsonPackedType::kInt8,  JsonPackedType::kUint8,
                                                  JsonPackedType::kInt16, JsonPackedType::kUint16,
                                                  JsonPackedType::kInt32, JsonPackedType::kUint32};
constexpr JsonPackedType kPackedFloatTypes[] = {JsonPackedType::kFloat16,   JsonPackedType::kBfloat16,
                                                JsonPackedType::kDecimal16, JsonPackedType::kBdecimal16,
                                                JsonPackedType::kFloat32,   JsonPackedType::kDecimal32};

}  // namespace

size_t JsonPacked::Width() const { return WidthOf(type); }

JsonValue JsonPacked::At(size_t i) const {
  const char* place = const_cast<JsonPacked*>(this)->Place(i);
  switch (type) {
    case JsonPackedType::kInt8:
      return JsonValue::Integer(ReadPacked<int8_t>(place));
    case JsonPackedType::kUint8:
      return JsonValue::Integer(ReadPacked<uint8_t>(place));
    case JsonPackedType::kInt16:
      return JsonValue::Integer(ReadPacked<int16_t>(place));
    case JsonPackedType::kUint16:
      return JsonValue::Integer(ReadPacked<uint16_t>(place));
    case JsonPackedType::kInt32:
      return JsonValue::Integer(ReadPacked<int32_t>(place));
    case JsonPackedType::kUint32:
      return JsonValue::Integer(ReadPacked<uint32_t>(place));
    default:
      return JsonValue::Number(ReadFloat(type, place));
  }
}

bool JsonPacked::Put(size_t i, const JsonValue& value) { return PutPacked(type, Place(i), value); }

bool JsonPacked::Fits(const JsonValue& value) const {
  std::array<char, sizeof(uint32_t)> unused;
  return PutPacked(type, unused.data(), value);
}

JsonPacked* PackJsonNumbers(std::span<const JsonValue> values) {
  if (values.size() < 2) return nullptr;
  const JsonKind kind = values.front().Kind();
  if (kind != JsonKind::kInteger && kind != JsonKind::kNumber) return nullptr;
  if (!std::ranges::all_of(values, [kind](const JsonValue& value) { return value.Is(kind); })) return nullptr;
  JsonPacked* packed = nullptr;
  const std::span<const JsonPackedType> types =
      kind == JsonKind::kInteger ? std::span<const JsonPackedType>(kPackedIntegerTypes) : kPackedFloatTypes;
  for (const JsonPackedType type : types) {
    if (packed == nullptr || WidthOf(type) > packed->Width()) {
      packed = static_cast<JsonPacked*>(ReallocateOrEnd(packed, sizeof(JsonPacked) + values.size() * WidthOf(type)));
    }
    *packed = {JsonKind::kArray, type, static_cast<uint32_t>(values.size())};
    size_t i = 0;
    while (i < values.size() && packed->Put(i, values[i])) ++i;
    if (i == values.size()) return packed;
  }
  std::free(packed);
  return nullptr;
}

}  // namespace respite
