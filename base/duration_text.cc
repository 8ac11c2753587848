#include "base/duration_text.h"

#include <array>

#include "base/number_text.h"

namespace respite {

namespace {

struct Unit {
  Bytes name;
  int64_t ms;
};
constexpr std::array kUnits = {Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1000},
                               Unit{"ms", 1}};

}  // namespace

std::optional<int64_t> ParseDurationMs(Bytes text) {
  size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) ++digits;
  const auto count = ParseInteger(text.substr(0, digits));
  if (!count || *count < 0) return std::nullopt;
  const Bytes unit = text.substr(digits);
  if (unit.empty()) return count;
  for (const Unit& known : kUnits) {
    int64_t product = 0;
    if (!EqualsIgnoreCase(unit, known.name)) continue;
    if (__builtin_mul_overflow(*count, known.ms, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

std::string DurationText(int64_t duration_ms) {
  for (const Unit& unit : kUnits) {
    if (duration_ms >= unit.ms && duration_ms % unit.ms == 0) {
      return std::to_string(duration_ms / unit.ms) + std::string(unit.name);
    }
  }
  return "0";
}

}  // namespace respite
