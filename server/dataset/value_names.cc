#include "server/dataset/value_names.h"

#include <array>
#include <limits>

#include "datatypes/array.h"
#include "datatypes/hash.h"
#include "datatypes/list.h"
#include "datatypes/set.h"
#include "datatypes/sorted_set.h"
#include "datatypes/stream.h"
#include "datatypes/vector_set.h"

namespace respite {

namespace {

// The names that TYPE shows, in the order of ValueType.
constexpr std::array<std::string_view, 9> kTypeNames = {"string", "list",  "set",       "zset",     "hash",
                                                        "stream", "array", "vectorset", "ReJSON-RL"};

// The names that OBJECT ENCODING shows for large values, in the order of ValueType. They are the names of Redis' data
// structures, whatever the structures here are.
constexpr std::array<std::string_view, 9> kObjectNames = {
    "raw", "quicklist", "hashtable", "skiplist", "hashtable", "stream", "sliced-array", "raw", "raw"};

bool KeepsAccessData(EvictionPolicy policy) {
  return policy == EvictionPolicy::kAllKeysLru || policy == EvictionPolicy::kVolatileLru ||
         policy == EvictionPolicy::kAllKeysLfu || policy == EvictionPolicy::kVolatileLfu ||
         policy == EvictionPolicy::kAllKeysLrm || policy == EvictionPolicy::kVolatileLrm;
}

}  // namespace

std::string_view TypeName(ValueType type) { return kTypeNames[static_cast<size_t>(type)]; }

std::optional<ValueType> FindTypeByName(Bytes name) {
  for (size_t i = 0; i < kTypeNames.size(); ++i)
    if (EqualsIgnoreCase(name, kTypeNames[i])) return static_cast<ValueType>(i);
  return std::nullopt;
}

std::string_view EncodingName(const Entry& entry) {
  switch (entry.Form()) {
    case ValueForm::kInt:
      return "int";
    case ValueForm::kEmbedded:
      return "embstr";
    case ValueForm::kRaw:
    case ValueForm::kBlob:
      return "raw";
    case ValueForm::kListpack:
      return "listpack";
    case ValueForm::kTimedListpack:
      return "listpackex";
    case ValueForm::kIntset:
      return "intset";
    case ValueForm::kObject:
      return kObjectNames[static_cast<size_t>(entry.Type())];
  }
  return "unknown";
}

// Returns the count that OBJECT REFCOUNT shows. As in Redis, the integers 0 to 9999 count as shared objects with the
// count 2147483647. Under maxmemory with an LRU, LRM or LFU policy they count as not shared (1), because each key needs
// its own usage bits.
int64_t ReferenceCount(const Entry& entry, const Settings& settings) {
  constexpr int64_t kSharedIntegers = 10000;
  if (entry.Form() != ValueForm::kInt || entry.IntegerValue() < 0 || entry.IntegerValue() >= kSharedIntegers) return 1;
  bool unshared = settings.maxmemory != 0 && KeepsAccessData(settings.maxmemory_policy);
  return unshared ? 1 : std::numeric_limits<int32_t>::max();
}

size_t SizeOfValue(const Entry& entry) {
  const EncodingLimits unused;  // nothing changes, so no limit applies
  const CollectionContext place{ValueSlot(&entry), unused, 0};
  switch (entry.Type()) {
    case ValueType::kString:
      return entry.TextSize();
    case ValueType::kList:
      return List(place).Size();
    case ValueType::kSet:
      return Set(place).Size();
    case ValueType::kSortedSet:
      return SortedSet(place).Size();
    case ValueType::kHash:
      return Hash::WithExpiredFields(entry).Size();
    case ValueType::kStream:
      return Stream(place).Log().Length();
    case ValueType::kArray:
      return Array(place).Table().Count();
    case ValueType::kVectorSet:
      return VectorSet(place).Table().Count();
    case ValueType::kJson:
      return 1;
  }
  return 0;
}

}  // namespace respite
