#include "base/memory_text.h"

#include <array>
#include <limits>

#include "base/number_text.h"

namespace respite {

namespace {

struct MemoryUnit {
  Bytes name;
  uint64_t bytes;
};

constexpr std::array<MemoryUnit, 8> kMemoryUnits = {{
    {"", 1},
    {"b", 1},
    {"k", 1000},
    {"kb", uint64_t{1} << 10},
    {"m", 1000 * 1000},
    {"mb", uint64_t{1} << 20},
    {"g", 1000 * 1000 * 1000},
    {"gb", uint64_t{1} << 30},
}};

uint64_t SaturatedNumber(Bytes digits) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  uint64_t value = 0;
  for (const char c : digits) {
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value > (kMax - digit) / 10) return kMax;
    value = value * 10 + digit;
  }
  return value;
}

}  // namespace

std::optional<uint64_t> ParseMemory(Bytes text) {
  constexpr size_t kMaxDigits = 127;
  size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) digits++;
  if (digits > kMaxDigits) return std::nullopt;
  for (const MemoryUnit& unit : kMemoryUnits) {
    if (EqualsIgnoreCase(text.substr(digits), unit.name)) return SaturatedNumber(text.substr(0, digits)) * unit.bytes;
  }
  return std::nullopt;
}

std::string HumanBytes(uint64_t bytes) {
  constexpr Bytes kLetters = "KMGTP";
  std::string plain = IntegerText::FromUnsigned(bytes).Text() + "B";
  if (bytes < 1024) return plain;
  uint64_t unit = 1024;
  for (const char letter : kLetters) {
    if (bytes / 1024 < unit) return FixedText(static_cast<double>(bytes) / static_cast<double>(unit), 2) + letter;
    unit *= 1024;
  }
  return plain;
}

}  // namespace respite
