#include "protocol/redis_version.h"

#include <array>

#include "base/number_text.h"
#include "base/str_cat.h"

namespace respite {

std::string Version::Text() const { return StrCat(major, ".", minor, ".", patch); }

std::optional<Version> ParseVersion(Bytes text) {
  constexpr int64_t kMax = 999;
  std::array<int, 3> parts{};
  for (int& part : parts) {
    const size_t dot = text.find('.');
    const auto number = ParseInteger(text.substr(0, dot));
    if (!number || *number < 0 || *number > kMax) return std::nullopt;
    part = static_cast<int>(*number);
    if (dot == Bytes::npos) return Version{parts[0], parts[1], parts[2]};
    text.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

}  // namespace respite
