// ListChunk: a run of neighbouring elements of a big list in one block of memory. ChunkCursor: reads a ListChunk.
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
// Sealed: the form of a chunk after the list has grown beyond the chunk. The block has no spare room. Integers are
// stored as `integers` if this form is not larger than `texts`. Other elements are stored as `texts` if this form is
// smaller than the open form; otherwise the chunk stays open (chunk_seal.h):
//
//   texts     the common prefix of all elements, stored once; the rest as symbols, with as few bits as the number
//             of different characters needs; the lengths of the rest if they differ
//   integers  when every element is the canonical text of a 64-bit integer: differences from the smallest, of 0 to 8
//             bytes each
//
// Elements at both ends of a sealed chunk can be removed in place. Any other change opens the chunk first, which costs
// O(size of the chunk).
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

// The size in bytes of a listpack without elements: header and end byte.
inline constexpr size_t kListpackFrame = 7;

class ListChunk {  // a run of neighbouring elements of a large list, in one memory block
 public:
  ListChunk() = default;
  ListChunk(ListChunk&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        count_(std::exchange(other.count_, 0)),
        packed_bytes_(std::exchange(other.packed_bytes_, 0)) {}
  ListChunk& operator=(ListChunk&& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(count_, other.count_);
    std::swap(packed_bytes_, other.packed_bytes_);
    return *this;
  }
  ~ListChunk();

  // Cost: one allocation and one memcpy.
  ListChunk Clone() const;  // returns a copy, which is sealed (compressed) if this chunk is sealed

  uint32_t Count() const { return count_; }     // number of elements
  bool IsEmpty() const { return count_ == 0; }  // true: there are no elements
  bool IsSealed() const {                       // true: compressed by Seal; a push would first open (unpack) the chunk
    return block_ != nullptr && block_->form != ChunkForm::kOpen;
  }
  size_t ListpackBytes() const { return kListpackFrame + packed_bytes_; }  // bytes of a Redis listpack of the elements
  size_t UsedBytes() const { return block_ == nullptr ? 0 : block_->size; }  // bytes of the block

  // Cost of PushFront and PushBack: O(length of the element), amortised.
  void PushFront(Bytes element);  // adds an element before the first
  void PushBack(Bytes element);   // adds an element after the last
  // PopFront and PopBack require: the chunk is not empty. Cost: O(1) amortised.
  void PopFront();  // removes the first element
  void PopBack();   // removes the last element

  // Insert requires: index <= Count(). Replace requires: index < Count(). Cost: O(size of the chunk).
  void Insert(uint32_t index, Bytes element);   // inserts an element before the one at `index`
  void Replace(uint32_t index, Bytes element);  // replaces the element at `index`
  // Requires: index + count <= Count().
  void Erase(uint32_t index, uint32_t count);  // erases `count` elements from `index` on
  // VisitRange calls visit(Bytes) for `count` elements from `index` on. Each view is valid during its call. Requires:
  // count > 0, index + count <= Count(). Cost: a new ChunkCursor, then O(count).
  template <class Visit>
  void VisitRange(uint32_t index, uint32_t count, Visit visit) const;  // visits `count` elements from `index` on
  ListChunk SplitOff(uint32_t index);   // moves the elements from `index` on into a new chunk, and returns it
  void Append(const ListChunk& other);  // adds copies of the elements of `other` at the back

  // Seals (compresses) the chunk: writes the elements in their shortest form, without spare room. If no form is shorter
  // than the open form, the chunk stays open, and only its spare room is freed. Cost: O(size of the chunk), about 10 ns
  // per element.
  void Seal();  // rewrites the elements in their shortest form, without spare room

  // PrefetchBlock, PrefetchFront and PrefetchBack are hints to the processor. PrefetchFront and PrefetchBack read
  // memory that PrefetchBlock fetches, so call PrefetchBlock first.
  void PrefetchBlock() const { Prefetch(block_); }  // prefetches the header of the block
  void PrefetchFront() const;  // after PrefetchBlock: prefetches the memory around the first element
  void PrefetchBack() const;   // after PrefetchBlock: prefetches where the last element and its length end

  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  friend class ChunkCursor;
  enum class Side : uint8_t { kFront, kBack };
  // The unused bytes in the block of an open (not sealed) chunk: before and after the table of length bytes, and before
  // and after the texts.
  struct Gaps {
    uint32_t before_lengths = 0;  // number of unused bytes before the length bytes
    uint32_t after_lengths = 0;   // number of unused bytes after the length bytes
    uint32_t before_texts = 0;    // number of unused bytes before the texts
    uint32_t after_texts = 0;     // number of unused bytes after the texts
  };

  void Open();  // unseals (unpacks) the chunk, before a change; does nothing if it is open
  bool HasCapacity(Side side, uint32_t text_bytes) const;  // true: room at `side` for an element of text_bytes
  void EnsureCapacity(Side side, uint32_t text_bytes);     // makes room at `side` for an element of text_bytes
  Gaps GapsFor(Side side, uint32_t text_bytes) const;      // gaps of a new block, with room for an element at `side`
  void Rebuild(const Gaps& gaps);                          // moves the elements to a new block with these gaps
  void ShrinkIfMostlySpare();  // moves the elements to a smaller block if most bytes are unused
  uint32_t TextBytes() const { return block_->end - block_->begin; }  // bytes of all texts; requires: open
  uint32_t SpareBytes() const;  // number of unused bytes of the block; requires: open
  uint32_t ListpackBytesOf(uint32_t index, uint32_t count) const;  // bytes of these elements in a Redis listpack
  void FreeBlock();                                                // frees the memory block, but changes no count

  ChunkBlock* block_ = nullptr;  // the memory of the elements; null: there are no elements
  uint32_t count_ = 0;           // number of elements
  uint32_t packed_bytes_ = 0;    // bytes of the elements in a Redis listpack, without its header and end
};

// Any change of the chunk invalidates the cursor and the elements that the cursor returned.
class ChunkCursor {  // iterates over the elements of a chunk
 public:
  ChunkCursor() = default;
  // Creates a cursor at the element `index`. Requires: index < chunk.Count(). Cost: O(1) at both ends, else a sum over
  // up to half of the length bytes.
  ChunkCursor(const ListChunk& chunk, uint32_t index) { Seek(chunk, index); }
  void Seek(const ListChunk& chunk, uint32_t index);  // goes to the element `index` of `chunk`

  // Scratch has room for a decoded element: 255 bytes, and the bytes that the decoder writes after them.
  using Scratch = std::array<char, 264>;

  bool IsValid() const { return index_ < count_; }  // false: the cursor is past either end
  uint32_t Index() const { return index_; }         // index of the current element in the chunk
  // Requires: IsValid().
  Bytes Element() {  // the current element, valid until the cursor moves
    if (block_->form == ChunkForm::kOpen) {
      const uint8_t length = block_->Length(index_);
      if (length < kMark16) return {block_->At(place_), length};
    }
    return DecodeSlowElement(scratch_);
  }
  // `scratch` must contain the common prefix already (CopyPrefix). Returns a view of `scratch`, or of the block if
  // nothing had to be decoded. Requires: a sealed chunk of texts.
  Bytes DecodeInto(Scratch& scratch) const {  // the current element, unpacked into `scratch`
    return DecodeSlowElement(scratch);
  }
  void CopyPrefix(Scratch& scratch) const;  // before DecodeInto: writes the prefix that all sealed texts share
  void Next() {
    place_ += Step();
    ++index_;
  }
  void Previous();  // goes to the element before; IsValid() becomes false before the first

 private:
  friend class ListChunk;
  static constexpr uint8_t kMark16 = 254;  // length byte: the text stands between two uint16 lengths; 255: two uint32

  // Returns the number to add to place_ to get from the current element to the next.
  uint32_t Step() const {
    if (block_->form == ChunkForm::kOpen) {
      const uint8_t length = block_->Length(index_);
      return length < kMark16 ? length : LongElementBytes(place_, length);
    }
    return SealedStep(index_);
  }
  uint32_t SealedStep(uint32_t index) const {  // sealed chunk: symbols (or 1 index) from element `index` to the next
    if (block_->form == ChunkForm::kIntegers) return 1;
    return block_->has_lengths ? block_->Length(index) : block_->width;
  }
  uint32_t LongElementBytes(uint32_t place,  // bytes of the element at `place`, over 253, and of its two lengths
                            uint8_t length_byte) const;
  uint32_t StepEndingAt(uint32_t index, uint32_t place) const;  // size of element `index`, which ends at `place`
  uint32_t PlaceOf(uint32_t index) const;           // offset where element `index` begins; adds up the sizes before it
  uint32_t PlaceFromEnd(uint32_t index) const;      // where element `index` begins, counted from the end of the chunk
  Bytes DecodeSlowElement(Scratch& scratch) const;  // an element of a sealed chunk, or one above 253 bytes

  const ChunkBlock* block_ = nullptr;  // the memory block of the chunk
  uint32_t index_ = 0;                 // index of the current element in the chunk
  uint32_t count_ = 0;                 // number of elements of the chunk
  uint32_t place_ = 0;  // where the element begins. Open: byte offset; sealed texts: symbol number; integers: index
  Scratch scratch_;     // the current element, if it had to be decoded
};

template <class Visit>
void ListChunk::VisitRange(uint32_t index, uint32_t count, Visit visit) const {  // visits elements from `index` on
  ChunkCursor cursor(*this, index);
  if (block_->form != ChunkForm::kTexts) {
    for (; count > 0; --count, cursor.Next()) visit(cursor.Element());
    return;
  }
  // Elements are decoded in batches, because a processor stalls when it loads bytes directly after stores of another
  // width.
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
