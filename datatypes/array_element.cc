#include "datatypes/array_element.h"

#include <cmath>

namespace respite {

std::string StoredDoubleText(double number) {
  std::string text = DoubleText(number);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::optional<double> StoredDoubleOf(Bytes text) {
  constexpr uint64_t kStoredBits = ~uint64_t{3};
  constexpr size_t kMaxBytes = 40;  // bytes; a longer text is not the shortest text of a number
  if (text.size() > kMaxBytes || text.find('.') == Bytes::npos) return std::nullopt;
  if (text.find_first_not_of("-.0123456789") != Bytes::npos) return std::nullopt;
  const std::optional<double> number = ParseDouble(text);
  if (!number || !std::isfinite(*number)) return std::nullopt;
  const double stored = std::bit_cast<double>(std::bit_cast<uint64_t>(*number) & kStoredBits);
  if (StoredDoubleText(stored) != text) return std::nullopt;
  return stored;
}

}  // namespace respite
