// PackedStore: an interface to the bytes of a packed collection (listpack, intset), for editing in place. A ValueSlot
// is the PackedStore for the value of an entry. A StringStore owns its bytes, for building values and for tests.
#pragma once

#include <cstddef>
#include <string>

#include "base/bytes.h"

namespace respite {

class PackedStore {  // an interface: the bytes of a listpack or intset, for editing
 public:
  PackedStore() = default;
  PackedStore(const PackedStore&) = default;
  PackedStore& operator=(const PackedStore&) = default;
  virtual ~PackedStore() = default;

  Bytes View() const { return {data_, size_}; }
  char* Data() { return data_; }
  size_t Size() const { return size_; }

  // The `inserted` new bytes are uninitialised. All bytes may move. Cost: O(bytes after `offset`), sometimes a
  // reallocation.
  virtual char* Splice(size_t offset, size_t removed,  // replaces bytes from `offset` on; returns the new, unset bytes
                       size_t inserted) = 0;

 protected:
  char* data_ = nullptr;
  size_t size_ = 0;
};

class StringStore final : public PackedStore {  // keeps the bytes in a string, outside the keyspace; also for tests
 public:
  StringStore() = default;
  explicit StringStore(Bytes bytes) : text_(bytes) { UpdateView(); }
  StringStore(const StringStore&) = delete;
  StringStore& operator=(const StringStore&) = delete;

  char* Splice(size_t offset, size_t removed,  // replaces bytes from `offset` on; returns the new bytes, all 0
               size_t inserted) override {
    text_.replace(offset, removed, inserted, '\0');
    UpdateView();
    return data_ + offset;
  }

 private:
  void UpdateView() {  // sets data_ and size_ again, after text_ has changed
    data_ = text_.data();
    size_ = text_.size();
  }

  std::string text_;
};

}  // namespace respite
