// HashPageStore: memory for the pages of a large HashIndex, in all multiples of 256 bytes, without gaps.
//
// Above 2 KB, jemalloc has only the multiples of 512. And while a table grows, its pages pass from size to size, and
// each size would leave slabs behind that are mostly empty. Here, the pages of one size fill chunks of 64 KB one after
// the other:
//
//   size 2304   | page | page | … 28 |   | page | page | hole | page | … |
//
// The place of a freed page is a hole, until a new page gets it, or FillHoles moves the last page of this size there.
// So the owner of the pages must be able to change the address of a page. A chunk without pages is used for another
// size, or freed.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace respite {

class HashPageStore {  // memory for the pages of one table; moves pages, so that no gaps are left
 public:
  static constexpr size_t kStep = 256;       // sizes are multiples of this
  static constexpr size_t kMaxBytes = 3584;  // size of the largest page
  static constexpr size_t kAlignment = 64;   // pages begin at multiples of this

  HashPageStore();
  HashPageStore(const HashPageStore&) = delete;
  HashPageStore& operator=(const HashPageStore&) = delete;
  ~HashPageStore();  // frees all pages

  // Requires: `bytes` is a multiple of kStep, at most kMaxBytes. Ends the process if there is no memory. Cost: O(1).
  void* Allocate(size_t bytes);         // returns memory for a page
  void Free(void* page, size_t bytes);  // frees a page of this size, which becomes a hole
  // Calls moved(address, bytes) for each page that has moved to `address`, with the contents that it had. Requires: the
  // freed pages are no longer in the directory of the table. Cost: O(holes).
  template <class Moved>
  void FillHoles(Moved&& moved) {  // moves the last pages of a size into the holes
    for (auto size = sizes_.begin(); hole_count_ != 0; ++size)
      while (!size->holes.empty())
        if (void* filled = FillHole(*size); filled != nullptr) moved(filled, size->bytes);
  }
  size_t SpareBytes() const { return spare_bytes_; }  // bytes of the chunks that no page uses

 private:
  static constexpr size_t kChunkBytes = size_t{64} << 10;  // size of a chunk
  static constexpr size_t kMaxSpareChunks = 2;             // maximum number of chunks without pages that are kept
  struct Size {                                            // the pages of one size
    size_t bytes = 0;                                      // size of a page
    std::vector<char*> chunks;                             // each has room for PagesPerChunk() pages
    size_t count = 0;          // number of pages and holes; they are the first ones of the chunks
    std::vector<char*> holes;  // places among the first `count` that no page uses

    size_t PagesPerChunk() const { return kChunkBytes / bytes; }
    char* PlaceOf(size_t number) const {  // the address of page `number`
      return chunks[number / PagesPerChunk()] + number % PagesPerChunk() * bytes;
    }
  };

  // Removes one hole: the last page of this size is moved there, or the hole is itself the last place. Returns the new
  // address of the page, or null if none moved.
  void* FillHole(Size& size);
  char* NewChunk();             // returns a spare chunk, or a new one
  void FreeChunk(char* chunk);  // keeps the chunk as a spare one, or frees it

  std::array<Size, kMaxBytes / kStep> sizes_;  // [i]: pages of (i + 1) * kStep bytes
  std::vector<char*> spare_chunks_;            // chunks without pages
  size_t hole_count_ = 0;                      // number of holes of all sizes
  size_t spare_bytes_ = 0;                     // bytes of the chunks that no page uses
};

}  // namespace respite
