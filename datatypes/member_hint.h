// MemberHint: lets the cache misses of several look-ups in large collections overlap. First the place of every member
// is fetched, then what stands there, then the look-ups themselves are made.
#pragma once

#include <cstdint>

#include "datatypes/hash_table.h"

namespace respite {

class MemberHint {
 public:
  // Hints that `member` (a field of a hash) is looked up in `entry` next. Cost: little for what has no table.
  MemberHint(const Entry& entry, Bytes member) {
    if (entry.Form() != ValueForm::kObject || entry.Type() != ValueType::kHash) return;
    table_ = static_cast<const HashTable*>(entry.HeldObject());
    hash_ = table_->Hash(member);
    table_->PrefetchBucket(hash_);
  }
  void FetchMember() const {
    if (table_ != nullptr) table_->PrefetchField(hash_);
  }

 private:
  const HashTable* table_ = nullptr;
  uint64_t hash_ = 0;
};

}  // namespace respite
