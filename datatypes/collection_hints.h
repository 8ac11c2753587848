// Hints to the processor about the next accesses to large collections. They let the cache misses of several accesses
// overlap: construct a hint for each access, call each Prefetch function for all hints in turn, then do the accesses.
#pragma once

#include <cstdint>

#include "base/memory.h"
#include "datatypes/chunked_list.h"
#include "datatypes/entry.h"
#include "datatypes/hash_table.h"
#include "datatypes/member_table.h"
#include "datatypes/score_table.h"

namespace respite {

// For lookups of members in large collections: construct a MemberHint for each lookup, then call PrefetchMember of each
// hint, then do the lookups.
class MemberHint {  // prefetches what the lookup of a member will read
 public:
  // Hints that `member` (a field of a hash, a member of a set or sorted set) will be looked up in `entry` next. Does
  // nothing for a value that has no hash table.
  MemberHint(const Entry& entry, Bytes member) {
    if (entry.Form() != ValueForm::kObject) return;
    if (entry.Type() == ValueType::kHash) HashAndPrefetch(fields_, entry, member);
    if (entry.Type() == ValueType::kSet) HashAndPrefetch(members_, entry, member);
    if (entry.Type() == ValueType::kSortedSet) HashAndPrefetch(sorted_set_, entry, member);
  }
  void PrefetchMember() const {  // second step: prefetches the items that may be the member
    if (fields_ != nullptr) fields_->PrefetchField(hash_);
    if (members_ != nullptr) members_->PrefetchItem(hash_);
    if (sorted_set_ != nullptr) sorted_set_->PrefetchItem(hash_);
  }

 private:
  template <class Table>
  void HashAndPrefetch(const Table*& table, const Entry& entry, Bytes member) {  // prefetches the member's bucket
    table = static_cast<const Table*>(entry.ObjectValue());
    hash_ = table->Hash(member);
    table->PrefetchBucket(hash_);
  }

  const HashTable* fields_ = nullptr;       // the table of a large hash; null: the value is no such
  const MemberTable* members_ = nullptr;    // the table of a large set; null: the value is no such
  const ScoreTable* sorted_set_ = nullptr;  // the table of a large sorted set; null: the value is no such
  uint64_t hash_ = 0;
};

// For accesses to the ends of large lists: construct a ListHint for each access. Then call PrefetchChunk of each hint,
// then PrefetchBlock of each, then PrefetchElement of each.
class ListHint {  // prefetches what a push or pop at one end will touch
 public:
  // Hints that an element at this end of the list in `entry` will be read, added or removed next. Does nothing for
  // small lists inside the entry and for values that are no lists.
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
