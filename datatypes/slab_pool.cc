#include "datatypes/slab_pool.h"

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/out_of_memory.h"

namespace respite {

SlabPool::~SlabPool() {
  FreeSpareSlab();
  assert(slab_count_ == 0);
}

void SlabPool::FreeSpareSlab() {
  if (spare_ != nullptr) DeleteSlab(std::exchange(spare_, nullptr));
}

void* SlabPool::Allocate(size_t bytes) {
  assert(Suits(bytes));
  Slab* slab = open_[ClassOf(BlockBytes(bytes))];
  if (slab == nullptr) [[unlikely]]
    slab = NewSlab(BlockBytes(bytes));
  char* block = reinterpret_cast<char*>(slab);
  if (slab->first_free != 0) {
    block += slab->first_free;
    std::memcpy(&slab->first_free, block, sizeof slab->first_free);
  } else {
    block += slab->first_fresh;
    slab->first_fresh += slab->block_bytes;
  }
  ++slab->used_count;
  ThreadMemory::AddSpareBytes(-int64_t{slab->block_bytes});
  if (slab->IsFull()) Close(slab);
  return block;
}

void SlabPool::Free(void* block) {
  Slab* slab = SlabOf(block);
  slab->pool->FreeBlock(slab, block);
}

void SlabPool::FreeBlock(Slab* slab, void* block) {
  const bool was_full = slab->IsFull();
  std::memcpy(block, &slab->first_free, sizeof slab->first_free);
  slab->first_free = static_cast<uint32_t>(static_cast<char*>(block) - reinterpret_cast<char*>(slab));
  --slab->used_count;
  ThreadMemory::AddSpareBytes(slab->block_bytes);
  if (was_full) Open(slab);
  if (slab->used_count != 0) return;
  Close(slab);
  if (spare_ != nullptr) return DeleteSlab(slab);
  spare_ = slab;
}

SlabPool::Slab* SlabPool::NewSlab(size_t block_bytes) {
  void* memory = nullptr;
  size_t slab_bytes = slab_count_ < kSmallSlabs ? kSmallSlabBytes : kSlabBytes;
  if (spare_ != nullptr) {
    slab_bytes = spare_->slab_bytes;
    memory = std::exchange(spare_, nullptr);
  } else {
    if (posix_memalign(&memory, kSlabBytes, slab_bytes) != 0) EndProcessOutOfMemory(slab_bytes);
    ThreadMemory::AddSpareBytes(static_cast<int64_t>(slab_bytes));
    ++slab_count_;
  }
  auto* slab = new (memory) Slab{.pool = this,
                                 .next = nullptr,
                                 .previous = nullptr,
                                 .slab_bytes = static_cast<uint32_t>(slab_bytes),
                                 .block_bytes = static_cast<uint32_t>(block_bytes),
                                 .used_count = 0,
                                 .first_free = 0,
                                 .first_fresh = sizeof(Slab)};
  Open(slab);
  return slab;
}

void SlabPool::DeleteSlab(Slab* slab) {
  ThreadMemory::AddSpareBytes(-int64_t{slab->slab_bytes});
  std::free(slab);
  --slab_count_;
}

void SlabPool::Open(Slab* slab) {
  Slab*& first = open_[ClassOf(slab->block_bytes)];
  slab->previous = nullptr;
  slab->next = first;
  if (first != nullptr) first->previous = slab;
  first = slab;
}

void SlabPool::Close(Slab* slab) {
  (slab->previous != nullptr ? slab->previous->next : open_[ClassOf(slab->block_bytes)]) = slab->next;
  if (slab->next != nullptr) slab->next->previous = slab->previous;
  slab->next = slab->previous = nullptr;
}

}  // namespace respite
