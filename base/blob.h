// Blob: a reference-counted block of bytes on the heap, for values too large to live inside their entry.
//
// The keyspace, a request that is being read and a reply that is being sent can share one Blob. So the server need not
// copy a large value on its way in or out. A caller that wants to change a Blob first calls `IsUnique()`, and makes a
// copy if others share the Blob. The reference count is atomic because the lazy free thread may drop the last
// reference.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/bytes.h"
#include "base/out_of_memory.h"

namespace respite {

class BlobRef {  // a counted reference to a Blob: a block of bytes on the heap, freed with the last reference
 public:
  BlobRef() = default;
  BlobRef(const BlobRef& other) : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  BlobRef(BlobRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  BlobRef& operator=(BlobRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~BlobRef() { Drop(); }

  static BlobRef OfSize(size_t size, size_t capacity) {  // a new Blob: `size` uninitialised bytes, room for `capacity`
    void* memory = AllocateOrEnd(sizeof(Block) + capacity);
    BlobRef ref;
    ref.block_ = new (memory) Block{{1}, size, capacity};
    return ref;
  }
  static BlobRef Copy(Bytes bytes) {  // a new Blob with a copy of the bytes
    BlobRef ref = OfSize(bytes.size(), bytes.size());
    std::memcpy(ref.Data(), bytes.data(), bytes.size());
    return ref;
  }

  explicit operator bool() const { return block_ != nullptr; }
  bool IsUnique() const {  // true: no other reference to the Blob exists; requires: not null
    return block_->references.load(std::memory_order_acquire) == 1;
  }
  Bytes View() const { return {block_->Data(), block_->size}; }
  char* Data() { return block_->Data(); }
  const char* ConstData() const { return block_->Data(); }  // the bytes of the Blob, for reading only
  // Returns true if this reference and `other` refer to one block, or if both are null.
  bool Is(const BlobRef& other) const { return block_ == other.block_; }
  size_t Size() const { return block_->size; }
  size_t Capacity() const { return block_->capacity; }  // in bytes; Size() of them are in use
  // Requires: size <= Capacity().
  void SetSize(size_t size) { block_->size = size; }  // changes how many bytes of the Blob are in use
  size_t UsedBytes() const {                          // bytes of memory: header, content and unused capacity
    return sizeof(Block) + block_->capacity;
  }

  // Release and Adopt convert a reference to a raw pointer and back, for owners that pack the pointer into their own
  // layout.
  void* Release() { return std::exchange(block_, nullptr); }  // gives up the reference; returns a raw pointer for Adopt
  static BlobRef Adopt(void* raw) {  // makes a reference from the raw pointer that Release returned
    BlobRef ref;
    ref.block_ = static_cast<Block*>(raw);
    return ref;
  }
  static Bytes ViewOf(const void* raw) {  // the bytes of the Blob whose raw pointer Release returned
    const auto* block = static_cast<const Block*>(raw);
    return {reinterpret_cast<const char*>(block + 1), block->size};
  }
  static char* DataOf(void* raw) { return static_cast<Block*>(raw)->Data(); }  // bytes of a Blob; `raw` is from Release

 private:
  struct Block {                       // on the heap: this header, then `capacity` bytes
    std::atomic<uint32_t> references;  // number of BlobRefs, and of raw pointers from Release, to this block
    size_t size;
    size_t capacity;  // bytes that follow this header; the Blob uses the first `size` of them
    char* Data() { return reinterpret_cast<char*>(this + 1); }
  };

  void Drop() {
    if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) std::free(block_);
  }

  Block* block_ = nullptr;  // null: refers to no Blob
};

}  // namespace respite
