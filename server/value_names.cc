#include "server/value_names.h"

#include <array>
#include <limits>

namespace respite {

namespace {

// In the order of ValueType.
constexpr std::array<std::string_view, 6> kTypeNames = {"string", "list", "set", "zset", "hash", "stream"};

bool KeepsAccessData(EvictionPolicy policy) {
  return policy == EvictionPolicy::kAllKeysLru || policy == EvictionPolicy::kVolatileLru ||
         policy == EvictionPolicy::kAllKeysLfu || policy == EvictionPolicy::kVolatileLfu;
}

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

// Redis: small integers are shared objects with an endless count, unless eviction needs the access data of each key.
int64_t ReferenceCount(const Entry& entry, const Settings& settings) {
  constexpr int64_t kSharedIntegers = 10000;
  if (entry.Form() != StringForm::kInt || entry.IntegerValue() < 0 || entry.IntegerValue() >= kSharedIntegers) return 1;
  bool unshared = settings.maxmemory != 0 && KeepsAccessData(settings.maxmemory_policy);
  return unshared ? 1 : std::numeric_limits<int32_t>::max();
}

}  // namespace respite
