// SlabPool: memory for many small blocks with one owner, in sizes that jemalloc lacks: for the entries of a database,
// the fields of a large hash, the members of a large sorted set.
//
// jemalloc's sizes up to 128 bytes are the multiples of 16, so a 16-byte key with a 64-byte value, which needs 88
// bytes, would take 96. A SlabPool has the multiples of 4 between. It cuts them from slabs, each of one size:
//
//   | header, 64 bytes | block | block | … |
//
// While a pool has fewer than 16 slabs, a new one takes 16 KB. Later ones take 64 KB, since each slab also costs
// jemalloc memory. A slab starts at a multiple of 64 KB, so the address of a block tells the slab. The free blocks of a
// slab are a list: each begins with the offset of the next one. A slab without blocks in use goes back to jemalloc,
// except one, which is used for the next size that needs a slab.
//
// A SlabPool has no lock. Its owner and all of its blocks must be used by one thread at a time. (FLUSHALL ASYNC hands a
// database as a whole to the lazyfree thread; a single entry must first be moved out with Entry::MoveOutOfPool.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/memory.h"

namespace respite {

class SlabPool {  // memory for many small blocks with one owner
 public:
  SlabPool() = default;
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;
  ~SlabPool();           // requires: no block is in use
  void FreeSpareSlab();  // gives the empty slab that was kept back to jemalloc

#ifdef RESPITE_SANITIZED
  static constexpr bool kIsUsed = false;  // each entry has memory of its own, which the sanitizer watches
#else
  static constexpr bool kIsUsed = true;  // false: Suits is always false, so there are no slabs
#endif
  static constexpr bool Suits(size_t bytes) {  // true: Allocate has a better size for this than jemalloc
    return kIsUsed && bytes > kMinBlock - 4 && bytes <= kMaxBlock && BlockBytes(bytes) % 16 != 0;
  }
  static constexpr size_t BlockBytes(size_t bytes) { return (bytes + 3) & ~size_t{3}; }  // bytes of the block for this

  // Requires: Suits(bytes). Ends the process if there is no memory. Cost: O(1).
  void* Allocate(size_t bytes);  // returns a block of at least this size, aligned to 4 bytes
  // Cost: O(1).
  static void Free(void* block);  // frees a block; it must be of a SlabPool that still exists

  static size_t SizeOf(const void* block) { return SlabOf(block)->block_bytes; }  // bytes of a block in use
  static const SlabPool* Of(const void* block) { return SlabOf(block)->pool; }    // the SlabPool of a block in use

  size_t SlabCount() const { return slab_count_; }  // number of slabs

 private:
  static constexpr size_t kMinBlock = 12;                      // bytes of the smallest block
  static constexpr size_t kMaxBlock = 124;                     // bytes of the largest block
  static constexpr size_t kSlabBytes = size_t{64} << 10;       // size of a slab, and alignment of all slabs
  static constexpr size_t kSmallSlabBytes = size_t{16} << 10;  // size of the first slabs of a pool
  static constexpr size_t kSmallSlabs = 16;                    // while a pool has fewer slabs, a new one is small

  struct alignas(64) Slab {  // the header of a slab
    SlabPool* pool;
    Slab* next;            // neighbours in the list of slabs of this size with free blocks; null: none
    Slab* previous;        // see next
    uint32_t slab_bytes;   // size of the slab, with this header
    uint32_t block_bytes;  // size of each block
    uint32_t used_count;   // number of blocks in use
    uint32_t first_free;   // offset of a free block; 0: none was freed
    uint32_t first_fresh;  // offset of the first block that was never in use

    bool HasFreshBlock() const { return first_fresh + block_bytes <= slab_bytes; }  // true: a block was never in use
    bool IsFull() const { return first_free == 0 && !HasFreshBlock(); }             // true: all blocks are in use
  };

  static Slab* SlabOf(const void* block) {  // the slab of a block
    return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(block) & ~(kSlabBytes - 1));
  }
  static size_t ClassOf(size_t block_bytes) { return block_bytes / 4; }  // index in open_ of the slabs for this size

  Slab* NewSlab(size_t block_bytes);  // makes a slab of the spare one, or allocates one, and adds it to open_
  void DeleteSlab(Slab* slab);        // frees an empty slab that is in no list
  void Open(Slab* slab);              // adds a slab that got a free block to open_
  void Close(Slab* slab);             // removes a slab from open_
  void FreeBlock(Slab* slab, void* block);

  std::array<Slab*, kMaxBlock / 4 + 1> open_ = {};  // [n]: the slabs for blocks of 4n bytes that have free blocks
  Slab* spare_ = nullptr;                           // a slab without blocks in use, in no list; null: there is none
  size_t slab_count_ = 0;                           // number of slabs, with the spare one
};

}  // namespace respite
