// EntryPool: memory for the small entries of one database, in sizes that jemalloc lacks.
//
// jemalloc's sizes up to 128 bytes are the multiples of 16, so a 16-byte key with a 64-byte value, which needs 88
// bytes, would take 96. An EntryPool has the sizes between: 24, 40, 56, 72, 88, 104 and 120 bytes. It cuts them from
// slabs of 16 KB, each of one size:
//
//   | header, 64 bytes | block | block | … |
//
// A slab starts at a multiple of its size, so the address of a block tells the slab. The free blocks of a slab are a
// list: each begins with the offset of the next one. A slab without blocks in use goes back to jemalloc, except the
// last one of each size.
//
// An EntryPool has no lock. Its database and all of its entries must be used by one thread at a time. (FLUSHALL ASYNC
// hands the database as a whole to the lazyfree thread; a single entry must first be moved out with
// Entry::MoveOutOfPool.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/memory.h"

namespace respite {

class EntryPool {  // memory for the small entries of one database
 public:
  EntryPool() = default;
  EntryPool(const EntryPool&) = delete;
  EntryPool& operator=(const EntryPool&) = delete;
  ~EntryPool();           // requires: no block is in use
  void FreeEmptySlabs();  // gives the empty slabs that were kept back to jemalloc

#ifdef RESPITE_SANITIZED
  static constexpr bool kIsUsed = false;  // each entry has memory of its own, which the sanitizer watches
#else
  static constexpr bool kIsUsed = true;  // false: Suits is always false, so there are no slabs
#endif
  static constexpr bool Suits(size_t bytes) {  // true: Allocate has a better size for this than jemalloc
    return kIsUsed && bytes > 16 && bytes <= kMaxBlock && ((bytes - 1) & 8) == 0;
  }

  // Requires: Suits(bytes). Ends the process if there is no memory. Cost: O(1).
  void* Allocate(size_t bytes);  // returns a block of at least this size, aligned to 8 bytes
  // Cost: O(1).
  static void Free(void* block);  // frees a block; it must be of an EntryPool that still exists

  static size_t SizeOf(const void* block) { return SlabOf(block)->block_bytes; }  // bytes of a block in use
  static const EntryPool* Of(const void* block) { return SlabOf(block)->pool; }   // the EntryPool of a block in use

  size_t SlabCount() const { return slab_count_; }  // number of slabs

 private:
  static constexpr size_t kMaxBlock = 120;                // bytes of the largest block
  static constexpr size_t kSlabBytes = size_t{16} << 10;  // size and alignment of a slab

  struct alignas(64) Slab {  // the header of a slab
    EntryPool* pool;
    Slab* next;            // neighbours in the list of slabs of this size with free blocks; null: none
    Slab* previous;        // see next
    uint32_t block_bytes;  // size of each block
    uint32_t used_count;   // number of blocks in use
    uint32_t first_free;   // offset of a free block; 0: none was freed
    uint32_t first_fresh;  // offset of the first block that was never in use

    bool HasFreshBlock() const { return first_fresh + block_bytes <= kSlabBytes; }  // true: a block was never in use
    bool IsFull() const { return first_free == 0 && !HasFreshBlock(); }             // true: all blocks are in use
  };

  static Slab* SlabOf(const void* block) {  // the slab of a block
    return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(block) & ~(kSlabBytes - 1));
  }
  static size_t ClassOf(size_t bytes) { return (bytes - 1) / 16; }  // index in open_ of the slabs for this size

  Slab* NewSlab(size_t block_bytes);  // allocates a slab, and adds it to open_
  void DeleteSlab(Slab* slab);        // frees an empty slab that is in no list
  void Open(Slab* slab);              // adds a slab that got a free block to open_
  void Close(Slab* slab);             // removes a slab from open_
  void FreeBlock(Slab* slab, void* block);

  std::array<Slab*, kMaxBlock / 16 + 1> open_ = {};  // the slabs of each size that have free blocks; [0] is unused
  size_t slab_count_ = 0;
};

}  // namespace respite
