#include "server/commands/json/json_float_arrays.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/refusal.h"
#include "base/str_cat.h"
#include "datatypes/json/json_text.h"
#include "server/catalogue/refusals.h"

namespace respite {

namespace {

// A floating-point type of FPHA: the number of bits of its mantissa, and its greatest and least exponents.
struct FloatType {
  Bytes name;
  int mantissa_bits;  // without the implicit one
  int max_exponent;   // of the greatest number
  int min_exponent;   // of the smallest number with all mantissa bits
};
constexpr FloatType kFloatTypes[] = {
    {"FP16", 10, 15, -14}, {"BF16", 7, 127, -126}, {"FP32", 23, 127, -126}, {"FP64", 52, 1023, -1022}};

// Returns the number of this type that is nearest to `number`, or infinity if `number` is out of range.
double RoundTo(const FloatType& type, double number) {
  if (number == 0 || type.mantissa_bits == 52) return number;
  int exponent = 0;
  std::frexp(number, &exponent);
  const int unit = std::max(exponent - 1, type.min_exponent) - type.mantissa_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(number, -unit)), unit);
  const double greatest = std::ldexp(2 - std::ldexp(1.0, -type.mantissa_bits), type.max_exponent);
  return std::fabs(rounded) > greatest ? std::copysign(INFINITY, number) : rounded;
}

// Returns the number with the fewest decimal digits that rounds to `number` in this type.
double ShortestIn(const FloatType& type, double number) {
  if (type.mantissa_bits == DBL_MANT_DIG - 1) return number;
  std::array<char, 40> text;
  double shorter = 0;
  if (type.mantissa_bits == FLT_MANT_DIG - 1) {
    const auto end = std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(number));
    std::from_chars(text.data(), end.ptr, shorter);
    return shorter;
  }
  for (int digits = 1; digits < DBL_DECIMAL_DIG; ++digits) {
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific, digits - 1);
    std::from_chars(text.data(), end.ptr, shorter);
    if (RoundTo(type, shorter) == number) return shorter;
  }
  return number;
}

void RoundAll(JsonValue& value, const FloatType& type) {
  if (value.Is(JsonKind::kObject)) {
    for (JsonMember& member : value.Members()) RoundAll(member.value, type);
  }
  if (!value.Is(JsonKind::kArray)) return;
  if (!std::ranges::all_of(value.Elements(), &JsonValue::IsNumeric)) {
    for (JsonValue& element : value.ElementsToChange()) RoundAll(element, type);
    return;
  }
  std::vector<JsonValue> rounded_numbers;
  for (const JsonValue& element : value.Elements()) {
    const double rounded = RoundTo(type, element.ToDouble());
    if (!std::isfinite(rounded)) throw Refusal{StrCat("ERR value out of range for ", type.name)};
    rounded_numbers.push_back(JsonValue::Number(ShortestIn(type, rounded)));
  }
  value = JsonValue::ArrayOf(rounded_numbers);
}

}  // namespace

void RoundFloatArrays(JsonValue& value, Bytes type) {
  const auto* found =
      std::ranges::find_if(kFloatTypes, [&](const FloatType& each) { return EqualsIgnoreCase(each.name, type); });
  if (found == std::end(kFloatTypes)) throw Refusal{refusals::kSyntax};
  RoundAll(value, *found);
}

}  // namespace respite
