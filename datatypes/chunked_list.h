// ChunkedList: a list of any length as a row of chunks (ListChunk, list_chunk.h).
//
//   row:  | gap | chunk chunk chunk … | gap |      a chunk here is a pointer and two counts: 16 bytes
//                  │
//                  └► block with hundreds of elements
//
// To find the i-th element, the list adds up the counts in the row from the nearer end, which reads memory
// sequentially. A push opens the chunk at its end of the list, and leaves room for more pushes. A push that
// finds no room begins a new chunk. The chunk that was at that end before is sealed when the block of the new chunk
// reaches 1 KB, or when yet another chunk begins. To seal a chunk is to rewrite its elements in their shortest form.
//
// Chunks have as many elements, and split and merge at the same moments, as the nodes of Redis' quicklist. OBJECT
// ENCODING says "listpack" again when a single small node is left, as in Redis. So this server must divide a list as
// Redis does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "datatypes/list_chunk.h"
#include "datatypes/object.h"

namespace respite {

enum class ListEnd : uint8_t { kHead, kTail };

// `fill` is the directive list-max-listpack-size: -1 to -5 mean 4, 8, 16, 32 or 64 KB of listpack (lower values count
// as -5). A positive number limits the number of elements, and zero means one element.
class ChunkLimit {  // how full a chunk may become: list-max-listpack-size
 public:
  explicit constexpr ChunkLimit(int64_t fill) : fill_(fill) {}

  size_t MaxBytes() const;  // maximum bytes of a chunk's listpack; SIZE_MAX: the directive limits the elements
  size_t MaxCount() const;  // maximum number of elements of one chunk; SIZE_MAX: the directive limits the bytes
  // As in Redis, a limit on the number of elements also implies a limit of 8 KB, which MaxBytes() does not return.
  bool Admits(size_t listpack_bytes, size_t count) const;  // true: a chunk may have this size and this many elements

 private:
  int64_t fill_;
};

// Adding or removing a chunk at either end takes amortised constant time.
class ChunkRow {  // the array of a list's chunks, with spare places at both ends
 public:
  size_t Size() const { return chunk_places_.size() - front_gap_; }
  ListChunk& operator[](size_t i) { return chunk_places_[front_gap_ + i]; }
  const ListChunk& operator[](size_t i) const { return chunk_places_[front_gap_ + i]; }
  // Requires: i <= Size(). Cost: O(1) amortised at the ends, else O(Size()).
  ListChunk& Insert(size_t i);         // inserts an empty chunk before chunk `i`, and returns the new chunk
  void Erase(size_t i, size_t count);  // erases `count` chunks from chunk `i` on
  size_t UsedBytes() const {           // bytes of the array, without the memory blocks of its chunks
    return chunk_places_.capacity() * sizeof(ListChunk);
  }

 private:
  void AddCapacityInFront();  // adds unused places before the first chunk

  std::vector<ListChunk> chunk_places_;  // `front_gap_` unused places, then the chunks
  size_t front_gap_ = 0;                 // number of unused places before the first chunk
};

class ChunkedList final : public Object {  // a list too large for one listpack: Redis' quicklist
 public:
  struct Place {         // the position of an element: the index-th of a chunk
    size_t chunk = 0;    // index of the chunk in the list
    uint32_t index = 0;  // index of the element in its chunk
  };

  // Any change of the list invalidates the cursor.
  class Cursor {  // iterates over the elements, forward or backward
   public:
    Cursor(const ChunkedList& list, Place place);
    bool IsValid() const { return cursor_.IsValid(); }  // false: the cursor is past either end
    // Requires: IsValid().
    Bytes Element() { return cursor_.Element(); }  // the current element, valid until the cursor moves
    Place CurrentPlace() const { return {chunk_, cursor_.Index()}; }  // chunk and index of the current element
    void Next() {
      cursor_.Next();
      if (!cursor_.IsValid()) EnterNextChunk();
    }
    void Previous() {  // goes to the element before; IsValid() is false before the first
      cursor_.Previous();
      if (!cursor_.IsValid()) EnterPreviousChunk();
    }

   private:
    void EnterNextChunk();      // goes to the first element of the next chunk, if there is one
    void EnterPreviousChunk();  // goes to the last element of the previous chunk, if there is one

    const ChunkedList* list_;
    size_t chunk_;        // index of the current chunk
    ChunkCursor cursor_;  // position in the current chunk
  };

  explicit ChunkedList(ChunkLimit limit) : limit_(limit) {}

  std::unique_ptr<Object> Clone() const override;  // returns a deep copy
  size_t Size() const override { return size_; }
  size_t UsedBytes(size_t samples) const override;  // bytes, estimated from the first `samples` chunks; 0: exact

  size_t ChunkCount() const { return row_.Size(); }           // number of chunks of the list
  const ListChunk& Chunk(size_t i) const { return row_[i]; }  // the i-th chunk of the list

  // Adds an element at the end `end`. Cost: O(length of the element), amortised.
  void Push(ListEnd end, Bytes element);
  // Removes the element at the end `end`. Requires: the list is not empty. Cost: O(1) amortised.
  void Pop(ListEnd end);
  // Keeps the chunk as it is, even if its size is not what list-max-listpack-size asks for. Requires: the chunk is not
  // empty.
  void AppendChunk(ListChunk chunk);  // adds a whole chunk of elements at the tail of the list

  // Three steps with which ListHint prefetches the first or last element. Each step reads what the step before has
  // prefetched, so the order matters. Requires: the list is not empty.
  void PrefetchChunk(ListEnd end) const {  // first step: prefetches the first or last chunk
    Prefetch(&row_[Edge(end)]);
  }
  void PrefetchBlock(ListEnd end) const {  // after PrefetchChunk: prefetches the chunk's memory block
    row_[Edge(end)].PrefetchBlock();
  }
  void PrefetchElement(ListEnd end) const {  // after PrefetchBlock: prefetches the first or last element
    const ListChunk& chunk = row_[Edge(end)];
    end == ListEnd::kHead ? chunk.PrefetchFront() : chunk.PrefetchBack();
  }

  // Requires: index < Size(). Cost: O(number of chunks), with 16 bytes read for each.
  Place PlaceOf(size_t index) const;  // the chunk of the list's element `index`, and the index in the chunk
  Cursor At(size_t index) const { return {*this, PlaceOf(index)}; }
  // VisitRange calls visit(Bytes) for `count` elements from `index` on. Each view is valid during its call. Requires:
  // count > 0, index + count <= Size(). Cost: PlaceOf, then O(count).
  template <class Visit>
  void VisitRange(size_t index, size_t count, Visit visit) const;  // visits `count` elements from `index` on
  // Returns the place of the first element equal to `element`, or nullopt if there is none. Cost: O(n).
  std::optional<Place> Find(Bytes element) const;

  // InsertBefore and InsertAfter insert an element beside the element at `place`. Replace stores `element` at `place`.
  // Cost: O(number of chunks + size of a chunk).
  void InsertBefore(Place place, Bytes element);  // inserts an element before the one at `place`; chunks may split
  void InsertAfter(Place place, Bytes element);   // inserts an element after the one at `place`; chunks may split
  void Replace(Place place, Bytes element);       // replaces the element at `place`
  // Requires: index + count <= Size(). Cost: InsertBefore, plus O(count).
  void EraseRange(size_t index, size_t count);  // erases `count` elements from `index` on
  // Starts at the end `from`. Returns how many elements were erased. Cost: O(n).
  size_t EraseEqual(Bytes element, size_t max_count, ListEnd from);  // erases up to max_count equal ones; returns count

  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  bool HasCapacityFor(size_t chunk, Bytes element) const;  // true: chunk `chunk` exists and has room for `element`
  size_t Edge(ListEnd end) const { return end == ListEnd::kHead ? 0 : row_.Size() - 1; }
  // Adds an empty chunk at this end, and returns it. Seals (compresses) the chunk that was next to the end chunk
  // before.
  ListChunk& AddChunkAt(ListEnd end);   // adds an empty chunk at this end, and returns it
  void SealSecondChunk(ListEnd end);    // seals (compresses) the chunk next to the end chunk, as it gets no more pushes
  ListChunk& SplitBefore(Place place);  // splits a chunk; returns the new chunk, which has the part from `place` on
  void MergeAround(size_t centre);      // after a split: merges small chunks next to chunk `centre`, as Redis does
  bool MergeIfSmall(size_t left);       // merges chunks `left` and `left` + 1, if they fit together; true: merged
  size_t EraseEqualInChunk(ListChunk& chunk, Bytes element,  // erases elements equal to `element`; returns how many
                           size_t max_count, ListEnd from);

  ChunkRow row_;
  size_t size_ = 0;
  ChunkLimit limit_;  // how full a chunk may become
};

template <class Visit>
void ChunkedList::VisitRange(size_t index, size_t count, Visit visit) const {  // visits `count` elements from `index`
  for (Place place = PlaceOf(index); count > 0; place = {place.chunk + 1, 0}) {
    const ListChunk& chunk = row_[place.chunk];
    const auto here = static_cast<uint32_t>(std::min<size_t>(count, chunk.Count() - place.index));
    chunk.VisitRange(place.index, here, visit);
    count -= here;
  }
}

}  // namespace respite
