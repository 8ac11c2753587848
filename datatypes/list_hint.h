// ListHint: lets the cache misses at the ends of several big lists overlap. Construct a hint for each list, then call
// FetchChunk for all lists, then FetchBlock for all, then FetchElement for all.
#pragma once

#include "base/memory.h"
#include "datatypes/chunked_list.h"
#include "datatypes/entry.h"

namespace respite {

class ListHint {
 public:
  // Hints that an element at this end of the list in `entry` will be read, added or removed next. Does nothing for
  // other values.
  ListHint(const Entry& entry, ListEnd end) : end_(end) {
    if (entry.Form() != ValueForm::kObject || entry.Type() != ValueType::kList) return;
    list_ = static_cast<const ChunkedList*>(entry.HeldObject());
    Prefetch(list_);
  }
  void FetchChunk() const {
    if (list_ != nullptr) list_->PrefetchChunk(end_);
  }
  void FetchBlock() const {
    if (list_ != nullptr) list_->PrefetchBlock(end_);
  }
  void FetchElement() const {
    if (list_ != nullptr) list_->PrefetchElement(end_);
  }

 private:
  const ChunkedList* list_ = nullptr;
  ListEnd end_;
};

}  // namespace respite
