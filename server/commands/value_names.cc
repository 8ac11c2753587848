#include "server/commands/value_names.h"

#include <array>

namespace respite {

namespace {

// In the order of ValueType.
constexpr std::array<std::string_view, 6> kTypeNames = {"string", "list", "set", "zset", "hash", "stream"};

}  // namespace

std::string_view TypeName(ValueType type) { return kTypeNames[static_cast<size_t>(type)]; }

std::optional<ValueType> TypeNamed(Bytes name) {
  for (size_t i = 0; i < kTypeNames.size(); ++i)
    if (EqualsIgnoreCase(name, kTypeNames[i])) return static_cast<ValueType>(i);
  return std::nullopt;
}

std::string_view EncodingName(const Entry& entry) {
  switch (entry.Form()) {
    case StringForm::kInt:
      return "int";
    case StringForm::kEmbedded:
      return "embstr";
    default:
      return "raw";
  }
}

}  // namespace respite
