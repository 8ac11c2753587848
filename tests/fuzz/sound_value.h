// Checks the invariants of a value.
#pragma once

#include "datatypes/array.h"
#include "datatypes/chunked_list.h"
#include "datatypes/hash.h"
#include "datatypes/json/json_document.h"
#include "datatypes/set.h"
#include "datatypes/sorted_set.h"
#include "datatypes/stream.h"
#include "datatypes/vector_set.h"

namespace respite {

// Limits so small that a few elements change the encoding.
inline constexpr EncodingLimits kTightLimits{.hash_max_listpack_entries = 2,
                                             .hash_max_listpack_value = 4,
                                             .set_max_intset_entries = 3,
                                             .set_max_listpack_entries = 2,
                                             .set_max_listpack_value = 4,
                                             .zset_max_listpack_entries = 2,
                                             .zset_max_listpack_value = 4,
                                             .list_max_listpack_size = 2};

// Cost: O(n).
inline bool IsSound(const Entry& entry, const EncodingLimits& limits) {
  const CollectionContext place{ValueSlot(&entry), limits, 0};
  switch (entry.Type()) {
    case ValueType::kSet:
      return Set(place).IsConsistent();
    case ValueType::kSortedSet:
      return SortedSet(place).IsConsistent();
    case ValueType::kHash:
      return Hash::WithExpiredFields(entry).IsConsistent();
    case ValueType::kList:
      return entry.Form() != ValueForm::kObject || static_cast<const ChunkedList*>(entry.ObjectValue())->IsConsistent();
    case ValueType::kStream:
      return Stream(place).Log().IsConsistent();
    case ValueType::kArray:
      return Array(place).Table().IsConsistent();
    case ValueType::kVectorSet:
      return VectorSet(place).Table().IsConsistent();
    case ValueType::kJson:
      return Json(place).Document().root().IsConsistent();
    default:
      return true;
  }
}

}  // namespace respite
