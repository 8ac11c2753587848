#include "base/duration_text.h"

#include <array>

#include "base/number_text.h"
#include "base/str_cat.h"

namespace respite {

namespace {

struct TimeUnit {
  Bytes name;
  int64_t ms;
};
constexpr std::array kTimeUnits = {TimeUnit{"d", 86'400'000}, TimeUnit{"h", 3'600'000}, TimeUnit{"m", 60'000},
                                   TimeUnit{"s", 1000}, TimeUnit{"ms", 1}};

}  // namespace

std::optional<int64_t> ParseDurationMs(Bytes text) {
  size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) ++digits;
  const auto count = ParseInteger(text.substr(0, digits));
  if (!count || *count < 0) return std::nullopt;
  const Bytes unit = text.substr(digits);
  if (unit.empty()) return count;
  for (const TimeUnit& known : kTimeUnits) {
    int64_t product = 0;
    if (!EqualsIgnoreCase(unit, known.name)) continue;
    if (__builtin_mul_overflow(*count, known.ms, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

std::string DurationText(int64_t duration_ms) {
  for (const TimeUnit& unit : kTimeUnits) {
    if (duration_ms >= unit.ms && duration_ms % unit.ms == 0) {
      return StrCat(duration_ms / unit.ms, unit.name);
    }
  }
  return "0";
}

}  // namespace respite
