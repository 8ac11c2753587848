// ListChunk: a run of neighbouring elements of a big list in one block of memory, and ChunkCursor, which reads it.
//
// A chunk is either open or sealed.
//
// Open: a table of one-byte lengths beside the texts, both with room before and behind, so that pushing and popping at
// either end moves nothing:
//
//   | header | … | lengths → | … | … | texts → | … |
//   length byte  0-253  the length itself; the text stands alone
//                254    uint16 length, text, uint16 length      (the mark behind serves whoever walks backward)
//                255    uint32 length, text, uint32 length
//
// Sealed: what a chunk becomes when the list has grown past it. The block has its exact size, and is written in the
// shorter of two ways (chunk_seal.h):
//
//   texts     what all elements begin with is stored once; the rest as symbols of as few bits as the number of
//   different
//             characters asks for; lengths of the rest only when they differ
//   integers  when every element is the canonical text of a 64-bit integer: differences from the smallest, of 0 to 8
//             bytes each
//
// Elements can be popped off a sealed chunk where it stands; any other change opens it first (O(size of the chunk)).
//
// A chunk knows how many bytes Redis' listpack would need for its elements, since Redis' rules about when a node is
// full look at that number.
//
// Views of elements given to a changing method must not point into the chunk itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/bytes.h"

namespace respite {

enum class ChunkForm : uint8_t { kOpen, kTexts, kIntegers };

// The head of the memory of a chunk; what follows depends on the form.
struct ChunkBlock {
  uint32_t size;     // of the block, this head included
  uint32_t lengths;  // where the first length byte stands (open, texts)
  uint32_t body;     // where the room of the texts begins, or the packed symbols or differences
  uint32_t begin;    // open: where the first text begins; texts: its first symbol; integers: its number
  uint32_t end;      // behind the last one, in the same unit
  ChunkForm form;
  uint8_t unit;      // texts: bits of a symbol; integers: bytes of a difference
  uint8_t width;     // texts without lengths: symbols of each element
  uint8_t prefix;    // texts: bytes that all elements begin with
  bool has_lengths;  // texts: false when all are equally long
  bool has_marks;    // open: some length byte may be 254 or 255
  bool is_exact;     // open: Seal() found nothing shorter, and nothing was added since

  const char* At(size_t offset) const { return reinterpret_cast<const char*>(this) + offset; }
  char* At(size_t offset) { return reinterpret_cast<char*>(this) + offset; }
  bool HasLengths() const { return form == ChunkForm::kOpen || has_lengths; }
  uint8_t Length(uint32_t index) const { return static_cast<uint8_t>(*At(lengths + index)); }
};

// Bytes of a listpack without any element.
inline constexpr size_t kListpackFrame = 7;

class ListChunk {
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

  // A copy with the same form. Cost: one memcpy.
  ListChunk Clone() const;

  uint32_t Count() const { return count_; }
  bool IsEmpty() const { return count_ == 0; }
  bool IsSealed() const { return block_ != nullptr && block_->form != ChunkForm::kOpen; }
  // What the elements would take as a listpack of Redis.
  size_t ListpackBytes() const { return kListpackFrame + entry_bytes_; }
  // Memory of the block.
  size_t UsedBytes() const { return block_ == nullptr ? 0 : block_->size; }

  // Cost: O(length of the element), amortised.
  void PushFront(Bytes element);
  void PushBack(Bytes element);
  // Requires: not empty. Cost: O(1).
  void PopFront();
  void PopBack();

  // Cost: O(size of the chunk). Requires: index <= Count() to insert, index < Count() to replace.
  void Insert(uint32_t index, Bytes element);
  void Replace(uint32_t index, Bytes element);
  // Requires: index + count <= Count().
  void Erase(uint32_t index, uint32_t count);
  // Takes the elements from `index` on into a chunk of their own.
  ListChunk SplitOff(uint32_t index);
  void Append(const ListChunk& other);

  // Gives the block its exact size and its shortest form. Cost: O(size of the chunk), about 10 ns per element.
  void Seal();

  bool CheckInvariants() const;

 private:
  friend class ChunkCursor;
  enum class Side : uint8_t { kFront, kBack };
  // Spare bytes around lengths and texts.
  struct Gaps {
    uint32_t lengths_front = 0;
    uint32_t lengths_back = 0;
    uint32_t texts_front = 0;
    uint32_t texts_back = 0;
  };

  void Open();
  bool HasRoom(Side side, uint32_t text_bytes) const;
  void MakeRoom(Side side, uint32_t text_bytes);
  Gaps GapsFor(Side side, uint32_t text_bytes) const;
  void Rebuild(const Gaps& gaps);
  void DropRoom();
  uint32_t TextBytes() const { return block_->end - block_->begin; }
  uint32_t FreeBytes() const;
  uint32_t EntryBytesOf(uint32_t index, uint32_t count) const;
  void Release();

  ChunkBlock* block_ = nullptr;
  uint32_t count_ = 0;
  uint32_t entry_bytes_ = 0;
};

// A place in a chunk. It dies with the first change of the chunk, and so do the elements it showed.
class ChunkCursor {
 public:
  ChunkCursor() = default;
  // Requires: index < chunk.Count(). Cost: O(1) at both ends, else a sum over up to half of the length bytes.
  ChunkCursor(const ListChunk& chunk, uint32_t index) { Seek(chunk, index); }
  void Seek(const ListChunk& chunk, uint32_t index);

  // False once the cursor has left the chunk at either end.
  bool IsValid() const { return index_ < count_; }
  uint32_t Index() const { return index_; }
  // The element here; the view is good until the cursor moves. Requires: IsValid().
  Bytes Element() {
    if (block_->form == ChunkForm::kOpen) {
      const uint8_t length = block_->Length(index_);
      if (length < kMark16) return {block_->At(place_), length};
    }
    return SlowElement();
  }
  void Next() {
    place_ += Step();
    ++index_;
  }
  void Previous();

 private:
  friend class ListChunk;
  static constexpr uint8_t kMark16 = 254;

  // From this element to the next, in the unit of `place_`.
  uint32_t Step() const {
    if (block_->form == ChunkForm::kOpen) {
      const uint8_t length = block_->Length(index_);
      return length < kMark16 ? length : MarkedStep(place_, length);
    }
    return SealedStep(index_);
  }
  uint32_t SealedStep(uint32_t index) const {
    if (block_->form == ChunkForm::kIntegers) return 1;
    return block_->has_lengths ? block_->Length(index) : block_->width;
  }
  uint32_t MarkedStep(uint32_t place, uint8_t length) const;
  uint32_t StepBack(uint32_t index, uint32_t place) const;
  uint32_t PlaceOf(uint32_t index) const;
  uint32_t PlaceFromEnd(uint32_t index) const;
  Bytes SlowElement();

  const ChunkBlock* block_ = nullptr;
  uint32_t index_ = 0;
  uint32_t count_ = 0;
  uint32_t place_ = 0;             // where the element begins: byte (open), symbol (texts) or number (integers)
  std::array<char, 264> scratch_;  // elements that are not stored as they read; 255 bytes and what is written past them
};

}  // namespace respite
