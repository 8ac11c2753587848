#include "base/duration_text.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/number_text.h"

namespace respite {

namespace {

struct Unit {
  Bytes name;
  int64_t milliseconds;
};

// The largest first.
constexpr std::array<Unit, 5> kUnits = {
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}},
};

}  // namespace

std::optional<int64_t> ParseDuration(Bytes text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = ParseInteger(text.substr(0, digits));
  if (!number) return std::nullopt;
  const Bytes name = text.substr(digits);
  if (name.empty()) return number;
  const auto* unit = std::ranges::find_if(kUnits, [&](const Unit& each) { return EqualsIgnoreCase(each.name, name); });
  if (unit == kUnits.end() || *number > std::numeric_limits<int64_t>::max() / unit->milliseconds) return std::nullopt;
  return *number * unit->milliseconds;
}

std::string DurationText(int64_t milliseconds) {
  if (milliseconds == 0) return "0";
  const auto divides = [&](const Unit& unit) { return milliseconds % unit.milliseconds == 0; };
  const Unit& unit = *std::ranges::find_if(kUnits, divides);
  return std::to_string(milliseconds / unit.milliseconds) + std::string(unit.name);
}

}  // namespace respite
