// MemberHint: lets the cache misses of several lookups in large collections overlap. First construct a hint for every
// member, then call FetchMember for all, then do the lookups.
#pragma once

#include <cstdint>

#include "datatypes/hash_table.h"
#include "datatypes/member_table.h"
#include "datatypes/score_table.h"

namespace respite {

class MemberHint {
 public:
  // Hints that `member` (a field of a hash, a member of a set or sorted set) will be looked up in `entry` next. Does
  // nothing for a value without a table.
  MemberHint(const Entry& entry, Bytes member) {
    if (entry.Form() != ValueForm::kObject) return;
    if (entry.Type() == ValueType::kHash) Fetch(fields_, entry, member);
    if (entry.Type() == ValueType::kSet) Fetch(members_, entry, member);
    if (entry.Type() == ValueType::kSortedSet) Fetch(scored_, entry, member);
  }
  void FetchMember() const {
    if (fields_ != nullptr) fields_->PrefetchField(hash_);
    if (members_ != nullptr) members_->PrefetchItem(hash_);
    if (scored_ != nullptr) scored_->PrefetchItem(hash_);
  }

 private:
  template <class Table>
  void Fetch(const Table*& table, const Entry& entry, Bytes member) {
    table = static_cast<const Table*>(entry.HeldObject());
    hash_ = table->Hash(member);
    table->PrefetchBucket(hash_);
  }

  const HashTable* fields_ = nullptr;
  const MemberTable* members_ = nullptr;
  const ScoreTable* scored_ = nullptr;
  uint64_t hash_ = 0;
};

}  // namespace respite
