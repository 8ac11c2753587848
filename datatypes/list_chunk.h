// ListChunk: a run of neighbouring elements of a big list in one block of memory, and ChunkCursor, which reads it.
//
// A chunk is either open or sealed.
//
// Open: a table of one-byte lengths beside the texts, both with room at either end, so that pushing and popping at the
// ends moves nothing:
//
//   | header | … | lengths → | … | … | texts → | … |
//   length byte  0-253  is the length of the text
//                254    the text stands between two marks: uint16 length, text, uint16 length
//                255    the text stands between two marks: uint32 length, text, uint32 length
//
// The second mark of a long text is for backward iteration.
//
// Sealed: the form of a chunk after the list has grown beyond it. The block has no spare room and is written in the
// shorter of these ways (chunk_seal.h), unless neither is shorter than the open form:
//
//   texts     the common prefix of all elements, stored once; the rest as symbols, with as few bits as the number
//             of different characters needs; the lengths of the rest if they differ
//   integers  when every element is the canonical text of a 64-bit integer: differences from the smallest, of 0 to 8
//             bytes each
//
// Elements can be popped off a sealed chunk in place; any other change opens it first (O(size of the chunk)).
//
// A chunk tracks how many bytes Redis' listpack would need for its elements, because Redis' rules for full nodes use
// this number.
//
// Elements passed to a modifying method must not be views of the chunk itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/memory.h"
#include "datatypes/chunk_seal.h"

namespace respite {

// The size of a listpack that has no elements, in bytes: header and end byte.
inline constexpr size_t kListpackFrame = 7;

class ListChunk {  // a run of neighbouring elements of a large list, in one memory block
 public:
  ListChunk() = default;
  ListChunk(ListChunk&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        count_(std::exchange(other.count_, 0)),
        entry_bytes_(std::exchange(other.entry_bytes_, 0)) {}
  ListChunk& operator=(ListChunk&& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(count_, other.count_);
    std::swap(entry_bytes_, other.entry_bytes_);
    return *this;
  }
  ~ListChunk();

  // Returns a copy with the same form. Cost: one allocation and one memcpy.
  ListChunk Clone() const;  // returns a copy, sealed (compressed) if this chunk is

  uint32_t Count() const { return count_; }     // number of elements
  bool IsEmpty() const { return count_ == 0; }  // true: there are no elements
  bool IsSealed() const {                       // true: compressed (Seal), so without room for more elements
    return block_ != nullptr && block_->form != ChunkForm::kOpen;
  }
  // Returns the size of a Redis listpack of the elements.
  size_t ListpackBytes() const { return kListpackFrame + entry_bytes_; }  // bytes of a Redis listpack of these
  // Returns the size of the memory block in bytes.
  size_t UsedBytes() const { return block_ == nullptr ? 0 : block_->size; }  // memory of the block

  // PushFront and PushBack add an element at one end. Cost: O(length of the element), amortised.
  void PushFront(Bytes element);  // adds an element before the first
  void PushBack(Bytes element);   // adds an element after the last
  // PopFront and PopBack remove the element at one end. Requires: the chunk is not empty. Cost: O(1).
  void PopFront();  // removes the first element
  void PopBack();   // removes the last element

  // Insert adds an element before the one at `index`. Replace replaces the one at `index`. Cost: O(size of the chunk).
  // Requires: index <= Count() to insert, index < Count() to replace.
  void Insert(uint32_t index, Bytes element);   // inserts before the element at `index`
  void Replace(uint32_t index, Bytes element);  // replaces the element at `index`
  // Requires: index + count <= Count().
  void Erase(uint32_t index, uint32_t count);  // erases `count` elements from `index` on
  // Calls visit(Bytes) for `count` elements from `index` on; each view is valid during its call. Requires: count > 0,
  // index + count <= Count(). Cost: that of a new ChunkCursor, then O(count).
  template <class Visit>
  void VisitRange(uint32_t index, uint32_t count, Visit visit) const;  // visits `count` elements from `index` on
  ListChunk SplitOff(uint32_t index);   // moves the elements from `index` on into a new chunk
  void Append(const ListChunk& other);  // adds the elements of `other` at the back

  // Shrinks the block to its exact size and its shortest form. Cost: O(size of the chunk), about 10 ns per element.
  void Seal();

  // Hints to the processor. PrefetchFront and PrefetchBack read memory that PrefetchBlock fetches, so call
  // PrefetchBlock first.
  void PrefetchBlock() const { Prefetch(block_); }  // prefetches the header of the block
  void PrefetchFront() const;                       // after PrefetchBlock: prefetches the first element
  void PrefetchBack() const;                        // after PrefetchBlock: prefetches the last element

  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  friend class ChunkCursor;
  enum class Side : uint8_t { kFront, kBack };
  // The numbers of spare bytes around the length table and the texts of an open block.
  struct Gaps {
    uint32_t before_lengths = 0;  // number of unused bytes before the length bytes
    uint32_t after_lengths = 0;   // number of unused bytes after the length bytes
    uint32_t before_texts = 0;    // number of unused bytes before the texts
    uint32_t after_texts = 0;     // number of unused bytes after the texts
  };

  void Open();
  bool HasCapacity(Side side, uint32_t text_bytes) const;  // true: there is room for an element of this size
  void EnsureCapacity(Side side, uint32_t text_bytes);     // makes room for an element of this size
  Gaps GapsFor(Side side, uint32_t text_bytes) const;      // the gaps that a new block gets, for one more element
  void Rebuild(const Gaps& gaps);                          // moves the elements to a new block with these gaps
  void ShrinkIfMostlySpare();  // moves the elements to a smaller block if most bytes are unused
  uint32_t TextBytes() const { return block_->end - block_->begin; }  // bytes of all texts; requires: open
  uint32_t SpareBytes() const;  // number of unused bytes of the block; requires: open
  uint32_t ListpackBytesOf(uint32_t index, uint32_t count) const;  // size of these elements in a Redis listpack
  void Release();                                                  // frees the memory block, but keeps count_

  ChunkBlock* block_ = nullptr;  // null: no memory, and no elements
  uint32_t count_ = 0;           // number of elements
  uint32_t entry_bytes_ = 0;     // bytes that the elements would take in a Redis listpack
};

// A position in a chunk. Any change of the chunk invalidates the cursor and the elements it returned.
class ChunkCursor {  // iterates over the elements of a chunk
 public:
  ChunkCursor() = default;
  // Creates a cursor at the element `index`. Requires: index < chunk.Count(). Cost: O(1) at both ends, else a sum over
  // up to half of the length bytes.
  ChunkCursor(const ListChunk& chunk, uint32_t index) { Seek(chunk, index); }
  void Seek(const ListChunk& chunk, uint32_t index);

  // Room for a decoded element: 255 bytes, and the bytes that the decoder writes after them.
  using Scratch = std::array<char, 264>;

  // Returns false after the cursor has moved past either end of the chunk.
  bool IsValid() const { return index_ < count_; }  // false: the cursor is past either end
  uint32_t Index() const { return index_; }         // index of the current element in the chunk
  // Returns the current element; the view is valid until the cursor moves. Requires: IsValid().
  Bytes Element() {  // the current element, valid until the cursor moves
    if (block_->form == ChunkForm::kOpen) {
      const uint8_t length = block_->Length(index_);
      if (length < kMark16) return {block_->At(place_), length};
    }
    return DecodeSlowElement(scratch_);
  }
  // Decodes the current element into `scratch`, which must contain the common prefix already (CopyPrefix). Returns a
  // view of `scratch`, or of the block if nothing had to be decoded. Requires: a sealed chunk of texts.
  Bytes DecodeInto(Scratch& scratch) const {  // unpacks the element to `scratch`; requires: sealed texts
    return DecodeSlowElement(scratch);
  }
  void CopyPrefix(Scratch& scratch) const;  // writes the prefix that sealed texts share, for DecodeInto
  void Next() {
    place_ += Step();
    ++index_;
  }
  void Previous();  // goes to the element before; IsValid() becomes false before the first

 private:
  friend class ListChunk;
  static constexpr uint8_t kMark16 = 254;  // the length byte of a text between two uint16 lengths; 255: uint32

  // Returns the distance from this element to the next, in the unit of `place_`.
  uint32_t Step() const {
    if (block_->form == ChunkForm::kOpen) {
      const uint8_t length = block_->Length(index_);
      return length < kMark16 ? length : LongStep(place_, length);
    }
    return SealedStep(index_);
  }
  uint32_t SealedStep(uint32_t index) const {  // the distance from an element to the next, in a sealed chunk
    if (block_->form == ChunkForm::kIntegers) return 1;
    return block_->has_lengths ? block_->Length(index) : block_->width;
  }
  uint32_t LongStep(uint32_t place, uint8_t length) const;      // the same as Step, for length bytes 254 and 255
  uint32_t StepEndingAt(uint32_t index, uint32_t place) const;  // Step of the element that ends at `place`
  uint32_t PlaceOf(uint32_t index) const;           // where element `index` begins; adds up the elements before
  uint32_t PlaceFromEnd(uint32_t index) const;      // where element `index` begins; subtracts the elements after
  Bytes DecodeSlowElement(Scratch& scratch) const;  // the element, if sealed or longer than 253 bytes

  const ChunkBlock* block_ = nullptr;  // the memory block of the chunk
  uint32_t index_ = 0;                 // index of the current element in the chunk
  uint32_t count_ = 0;                 // number of elements of the chunk
  uint32_t place_ = 0;  // where the current element begins: byte (open), symbol (texts) or number (integers)
  Scratch scratch_;     // holds the current element if it had to be decoded
};

template <class Visit>
void ListChunk::VisitRange(uint32_t index, uint32_t count, Visit visit) const {  // visits elements from `index` on
  ChunkCursor cursor(*this, index);
  if (block_->form != ChunkForm::kTexts) {
    for (; count > 0; --count, cursor.Next()) visit(cursor.Element());
    return;
  }
  // Decodes in batches, because a processor stalls when it loads bytes directly after stores of another width.
  constexpr uint32_t kBatch = 8;
  std::array<ChunkCursor::Scratch, kBatch> scratches;
  std::array<Bytes, kBatch> texts;
  for (uint32_t i = 0; i < std::min(count, kBatch); ++i) cursor.CopyPrefix(scratches[i]);
  while (count > 0) {
    const uint32_t size = std::min(count, kBatch);
    for (uint32_t i = 0; i < size; ++i, cursor.Next()) texts[i] = cursor.DecodeInto(scratches[i]);
    for (uint32_t i = 0; i < size; ++i) visit(texts[i]);
    count -= size;
  }
}

}  // namespace respite
