// Hints to the processor about the next accesses to large collections. The hints let the cache misses of several
// accesses overlap. Construct a hint for each access, call each Prefetch function for all hints in turn, then do the
// accesses.
#pragma once

#include <cstdint>

#include "base/memory.h"
#include "datatypes/chunked_list.h"
#include "datatypes/entry.h"
#include "datatypes/hash_table.h"
#include "datatypes/member_table.h"
#include "datatypes/score_table.h"

namespace respite {

// Construct a MemberHint for each lookup. Then call PrefetchBucket of each hint, then PrefetchMember of each, then do
// the lookups.
class MemberHint {  // prefetches what a lookup in a large hash, set or sorted set will read
 public:
  // For a lookup of `member` (a field of a hash, a member of a set or sorted set) in the value of `entry`. The hint
  // does nothing for a value that has no hash table.
  MemberHint(const Entry& entry, Bytes member) {
    if (entry.Form() != ValueForm::kObject) return;
    if (entry.Type() == ValueType::kHash) Choose(fields_, entry, member);
    if (entry.Type() == ValueType::kSet) Choose(members_, entry, member);
    if (entry.Type() == ValueType::kSortedSet) Choose(sorted_set_, entry, member);
  }
  void PrefetchBucket() const {  // first step: prefetches the hash bucket of the member
    if (fields_ != nullptr) fields_->PrefetchBucket(hash_);
    if (members_ != nullptr) members_->PrefetchBucket(hash_);
    if (sorted_set_ != nullptr) sorted_set_->PrefetchBucket(hash_);
  }
  void PrefetchMember() const {  // second step: prefetches the items in the bucket that may be the member
    if (fields_ != nullptr) fields_->PrefetchField(hash_);
    if (members_ != nullptr) members_->PrefetchItem(hash_);
    if (sorted_set_ != nullptr) sorted_set_->PrefetchItem(hash_);
  }

 private:
  template <class Table>
  void Choose(const Table*& table, const Entry& entry, Bytes member) {  // sets `table` and the hash
    table = static_cast<const Table*>(entry.ObjectValue());
    hash_ = table->Hash(member);
  }

  const HashTable* fields_ = nullptr;       // the fields, if the value is a large hash; otherwise null
  const MemberTable* members_ = nullptr;    // the members, if the value is a large set; otherwise null
  const ScoreTable* sorted_set_ = nullptr;  // the members, if the value is a large sorted set; otherwise null
  uint64_t hash_ = 0;
};

// Construct a ListHint for each access to an end of a list. Then call PrefetchChunk of each hint, then PrefetchBlock of
// each, then PrefetchElement of each.
class ListHint {  // prefetches what a push or pop at one end of a large list will touch
 public:
  // Prefetches the ChunkedList of `entry`, for an access to the element at its end `end`. Does nothing for small lists
  // inside the entry and for values that are no lists.
  ListHint(const Entry& entry, ListEnd end) : end_(end) {
    if (entry.Form() != ValueForm::kObject || entry.Type() != ValueType::kList) return;
    list_ = static_cast<const ChunkedList*>(entry.ObjectValue());
    Prefetch(list_);
  }
  void PrefetchChunk() const {  // first step: prefetches the first or last ListChunk
    if (list_ != nullptr) list_->PrefetchChunk(end_);
  }
  void PrefetchBlock() const {  // second step: prefetches the memory block of this chunk
    if (list_ != nullptr) list_->PrefetchBlock(end_);
  }
  void PrefetchElement() const {  // third step: prefetches the first or last element
    if (list_ != nullptr) list_->PrefetchElement(end_);
  }

 private:
  const ChunkedList* list_ = nullptr;
  ListEnd end_;
};

}  // namespace respite
