#include "datatypes/list_chunk.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "base/byte_order.h"
#include "datatypes/chunk_seal.h"
#include "datatypes/listpack.h"

namespace respite {

namespace {

constexpr uint32_t kHead = sizeof(ChunkBlock);
constexpr uint8_t kMark16 = 254;
constexpr uint8_t kMark32 = 255;

uint8_t LengthByte(size_t size) {
  if (size < kMark16) return static_cast<uint8_t>(size);
  return size <= std::numeric_limits<uint16_t>::max() ? kMark16 : kMark32;
}

uint32_t MarkBytes(uint8_t length_byte) {
  if (length_byte < kMark16) return 0;
  return length_byte == kMark16 ? sizeof(uint16_t) : sizeof(uint32_t);
}

// Returns the number of bytes that an element takes in the text area of an open chunk. These are the text and, if the
// text is long, two copies of its length (one before and one after the text). The byte in the area of lengths is not
// counted.
uint32_t StoredSize(Bytes element) {
  return static_cast<uint32_t>(element.size()) + 2 * MarkBytes(LengthByte(element.size()));
}

uint32_t ReadMark(const char* from, uint8_t length_byte) {
  return length_byte == kMark16 ? LoadLittle<uint16_t>(from) : LoadLittle<uint32_t>(from);
}

void WriteElement(char* to, Bytes element) {
  const uint32_t mark_bytes = MarkBytes(LengthByte(element.size()));
  StoreLittle(to, element.size(), mark_bytes);
  if (!element.empty()) std::memcpy(to + mark_bytes, element.data(), element.size());
  StoreLittle(to + mark_bytes + element.size(), element.size(), mark_bytes);
}

// Returns how many spare bytes a new block gets if `used` bytes of it will be in use. A block of more than 64 KB gets
// only 64 spare bytes, because its chunk usually holds one large element and gets no other.
uint32_t GrowthOf(uint32_t used) {
  constexpr uint32_t kMin = 64;
  constexpr uint32_t kOrdinary = 65536;
  return used > kOrdinary ? kMin : std::max(kMin, used / 2);
}

// Returns the sum of `count` bytes, each 0 to 255. Adds up eight bytes at a time in four lanes of 16 bits.
uint32_t SumOfBytes(const char* from, uint32_t count) {
  constexpr uint64_t kEven = 0x00ff00ff00ff00ff;
  constexpr uint64_t kOnes = 0x0001000100010001;
  uint64_t sum = 0;
  for (; count >= 8; count -= 8, from += 8) {
    const auto word = LoadLittle<uint64_t>(from);
    sum += (((word & kEven) + ((word >> 8) & kEven)) * kOnes) >> 48;
  }
  for (; count > 0; --count, ++from) sum += static_cast<uint8_t>(*from);
  return static_cast<uint32_t>(sum);
}

// Returns the number of bytes that Redis' listpack needs for an element.
uint32_t EntryBytes(Bytes element) { return static_cast<uint32_t>(Listpack::SizeFor(element)); }

}  // namespace

ListChunk::~ListChunk() { FreeBlock(); }

void ListChunk::FreeBlock() {
  std::free(block_);
  block_ = nullptr;
}

ListChunk ListChunk::Clone() const {
  ListChunk copy;
  if (block_ == nullptr) return copy;
  copy.block_ = AllocateChunkBlock(block_->size);
  std::memcpy(static_cast<void*>(copy.block_), block_, block_->size);
  copy.count_ = count_;
  copy.packed_bytes_ = packed_bytes_;
  return copy;
}

uint32_t ListChunk::SpareBytes() const { return block_->size - kHead - count_ - TextBytes(); }

bool ListChunk::HasCapacity(Side side, uint32_t text_bytes) const {
  const ChunkBlock& block = *block_;
  if (side == Side::kFront) return block.lengths_offset > kHead && block.begin - block.body_offset >= text_bytes;
  return block.lengths_offset + count_ < block.body_offset && block.size - block.end >= text_bytes;
}

// Returns how many bytes are left unused before and after each of the two areas of a new block, so that one more text
// of `text_bytes` bytes fits at `side`. The areas are the length table (one byte for each element) and the texts.
//   If a block of the old size would have more than a fifth unused, the new block has the old size, and the unused
//     bytes are shared between front and back. So pushes at alternating ends do not shift the elements each time.
//   Otherwise the new block is larger (GrowthOf), and all unused bytes are at `side`.
// Each area gets unused bytes in proportion to its size. So both areas become full together if the next texts have the
// average size.
ListChunk::Gaps ListChunk::GapsFor(Side side, uint32_t text_bytes) const {
  const uint32_t used = count_ + TextBytes() + text_bytes + 1;
  const uint32_t spare = block_->size - kHead > used ? block_->size - kHead - used : 0;
  const bool is_plenty = spare > used / 4;
  const uint32_t room = is_plenty ? spare : GrowthOf(used);
  const auto lengths = static_cast<uint32_t>(uint64_t{room} * (count_ + 1) / used);
  const uint32_t texts = room - lengths;
  const uint32_t lengths_other = is_plenty ? lengths / 2 : 0;
  const uint32_t texts_other = is_plenty ? texts / 2 : 0;
  const Gaps gaps = {.before_lengths = lengths - lengths_other + 1,
                     .after_lengths = lengths_other,
                     .before_texts = texts - texts_other + text_bytes,
                     .after_texts = texts_other};
  if (side == Side::kFront) return gaps;
  return {gaps.after_lengths, gaps.before_lengths, gaps.after_texts, gaps.before_texts};
}

void ListChunk::EnsureCapacity(Side side, uint32_t text_bytes) {
  if (block_ == nullptr) {
    block_ = AllocateChunkBlock(kHead);
    block_->lengths_offset = block_->body_offset = block_->begin = block_->end = kHead;
  }
  if (!HasCapacity(side, text_bytes)) Rebuild(GapsFor(side, text_bytes));
}

// Moves the elements to a new block that has the free room `gaps` before and after the lengths and the texts. Requires:
// the chunk is open.
void ListChunk::Rebuild(const Gaps& gaps) {
  const ChunkBlock& old = *block_;
  const uint32_t lengths_room = gaps.before_lengths + count_ + gaps.after_lengths;
  const size_t texts_room = size_t{gaps.before_texts} + TextBytes() + gaps.after_texts;
  ChunkBlock* block = AllocateChunkBlock(kHead + lengths_room + texts_room);
  block->may_have_long_elements = old.may_have_long_elements;
  block->lengths_offset = kHead + gaps.before_lengths;
  block->body_offset = kHead + lengths_room;
  block->begin = block->body_offset + gaps.before_texts;
  block->end = block->begin + TextBytes();
  std::memcpy(block->At(block->lengths_offset), old.At(old.lengths_offset), count_);
  std::memcpy(block->At(block->begin), old.At(old.begin), TextBytes());
  std::free(block_);
  block_ = block;
}

// Moves the elements of an open chunk to a smaller block if the block has at least 512 bytes, and at least three
// quarters of these are spare. Does nothing for a sealed chunk, which has no spare room.
void ListChunk::ShrinkIfMostlySpare() {
  constexpr uint32_t kWorthwhile = 512;
  if (block_->size < kWorthwhile || IsSealed() || SpareBytes() < block_->size / 4 * 3) return;
  Rebuild({.after_lengths = count_ / 4 + 1, .after_texts = TextBytes() / 4});
}

void ListChunk::Open() {
  if (block_ == nullptr) return;
  block_->is_shortest = false;
  if (!IsSealed()) return;
  ListChunk opened;
  opened.Append(*this);
  *this = std::move(opened);
}

// Does nothing for a sealed (compressed) chunk: its data directly follows the header, which PrefetchBlock has already
// fetched.
void ListChunk::PrefetchFront() const {
  if (block_ == nullptr || block_->form != ChunkForm::kOpen) return;
  Prefetch(block_->At(block_->lengths_offset) - 1);
  Prefetch(block_->At(block_->begin) - 1);
}

void ListChunk::PrefetchBack() const {
  if (block_ == nullptr || block_->form != ChunkForm::kOpen) return;
  Prefetch(block_->At(block_->lengths_offset + count_));
  Prefetch(block_->At(block_->end));
}

void ListChunk::PushFront(Bytes element) {
  Open();
  const uint32_t stored = StoredSize(element);
  EnsureCapacity(Side::kFront, stored);
  block_->begin -= stored;
  block_->lengths_offset -= 1;
  const uint8_t length = LengthByte(element.size());
  if (length >= kMark16) block_->may_have_long_elements = true;
  *block_->At(block_->lengths_offset) = static_cast<char>(length);
  WriteElement(block_->At(block_->begin), element);
  ++count_;
  packed_bytes_ += EntryBytes(element);
}

void ListChunk::PushBack(Bytes element) {
  Open();
  const uint32_t stored = StoredSize(element);
  EnsureCapacity(Side::kBack, stored);
  const uint8_t length = LengthByte(element.size());
  if (length >= kMark16) block_->may_have_long_elements = true;
  *block_->At(block_->lengths_offset + count_) = static_cast<char>(length);
  WriteElement(block_->At(block_->end), element);
  block_->end += stored;
  ++count_;
  packed_bytes_ += EntryBytes(element);
}

void ListChunk::PopFront() {
  ChunkCursor cursor(*this, 0);
  packed_bytes_ -= EntryBytes(cursor.Element());
  block_->begin += cursor.Step();
  if (block_->HasLengths()) ++block_->lengths_offset;
  --count_;
  ShrinkIfMostlySpare();
}

void ListChunk::PopBack() {
  ChunkCursor cursor(*this, count_ - 1);
  packed_bytes_ -= EntryBytes(cursor.Element());
  block_->end -= cursor.Step();
  --count_;
  ShrinkIfMostlySpare();
}

void ListChunk::Insert(uint32_t index, Bytes element) {
  if (index == 0) return PushFront(element);
  if (index == count_) return PushBack(element);
  Open();
  const uint32_t stored = StoredSize(element);
  EnsureCapacity(Side::kBack, stored);
  const uint32_t place = ChunkCursor(*this, index).place_;
  char* length = block_->At(block_->lengths_offset + index);
  char* text = block_->At(place);
  std::memmove(length + 1, length, count_ - index);
  std::memmove(text + stored, text, block_->end - place);
  *length = static_cast<char>(LengthByte(element.size()));
  if (stored != element.size()) block_->may_have_long_elements = true;
  WriteElement(text, element);
  block_->end += stored;
  ++count_;
  packed_bytes_ += EntryBytes(element);
}

void ListChunk::Replace(uint32_t index, Bytes element) {
  Open();
  ChunkCursor cursor(*this, index);
  const Bytes old = cursor.Element();
  if (StoredSize(old) != StoredSize(element)) {
    Erase(index, 1);
    return Insert(index, element);
  }
  packed_bytes_ -= EntryBytes(old);
  packed_bytes_ += EntryBytes(element);
  WriteElement(block_->At(cursor.place_), element);
}

uint32_t ListChunk::ListpackBytesOf(uint32_t index, uint32_t count) const {
  size_t bytes = 0;
  ChunkCursor cursor(*this, index);
  for (; count > 0; --count, cursor.Next()) bytes += EntryBytes(cursor.Element());
  return static_cast<uint32_t>(bytes);
}

void ListChunk::Erase(uint32_t index, uint32_t count) {
  if (count == 0) return;
  if (count == count_) {
    *this = ListChunk();
    return;
  }
  const uint32_t behind = index + count;
  const bool is_middle = index > 0 && behind < count_;
  if (is_middle) Open();
  packed_bytes_ -= ListpackBytesOf(index, count);
  const uint32_t from = ChunkCursor(*this, index).place_;
  const uint32_t to = behind == count_ ? block_->end : ChunkCursor(*this, behind).place_;
  if (index == 0) {
    block_->begin = to;
    if (block_->HasLengths()) block_->lengths_offset += count;
  } else {
    if (is_middle) {
      char* lengths = block_->At(block_->lengths_offset);
      std::memmove(lengths + index, lengths + behind, count_ - behind);
      std::memmove(block_->At(from), block_->At(to), block_->end - to);
    }
    block_->end -= to - from;
  }
  count_ -= count;
  ShrinkIfMostlySpare();
}

ListChunk ListChunk::SplitOff(uint32_t index) {
  ListChunk rest;
  if (index == count_) return rest;
  for (ChunkCursor cursor(*this, index); cursor.IsValid(); cursor.Next()) rest.PushBack(cursor.Element());
  Erase(index, count_ - index);
  return rest;
}

void ListChunk::Append(const ListChunk& other) {
  if (other.IsEmpty()) return;
  for (ChunkCursor cursor(other, 0); cursor.IsValid(); cursor.Next()) PushBack(cursor.Element());
}

void ListChunk::Seal() {
  if (IsEmpty() || IsSealed() || block_->is_shortest) return;
  std::vector<Bytes> elements;
  elements.reserve(count_);
  for (ChunkCursor cursor(*this, 0); cursor.IsValid(); cursor.Next()) elements.push_back(cursor.Element());
  ChunkBlock* sealed = CreateSealedBlock(elements, kHead + count_ + TextBytes());
  if (sealed == nullptr) {
    if (SpareBytes() > 0) Rebuild({});
    block_->is_shortest = true;
    return;
  }
  FreeBlock();
  block_ = sealed;
}

bool ListChunk::IsConsistent() const {
  if (block_ == nullptr) return count_ == 0 && packed_bytes_ == 0;
  const ChunkBlock& block = *block_;
  if (count_ == 0 && packed_bytes_ != 0) return false;
  if (block.form == ChunkForm::kOpen) {
    const bool in_order = kHead <= block.lengths_offset && block.lengths_offset + count_ <= block.body_offset &&
                          block.body_offset <= block.begin;
    if (!in_order || block.begin > block.end || block.end > block.size) return false;
  }
  if (count_ == 0) return block.begin == block.end;
  size_t entries = 0;
  ChunkCursor cursor(*this, 0);
  for (; cursor.IsValid(); cursor.Next()) {
    entries += EntryBytes(cursor.Element());
    const bool is_long = block.form == ChunkForm::kOpen && block.Length(cursor.Index()) >= kMark16;
    if (is_long && !block.may_have_long_elements) return false;
    if (ChunkCursor(*this, cursor.Index()).place_ != cursor.place_) return false;
  }
  return entries == packed_bytes_ && cursor.place_ == block.end;
}

void ChunkCursor::Seek(const ListChunk& chunk, uint32_t index) {
  block_ = chunk.block_;
  count_ = chunk.count_;
  index_ = index;
  place_ = index <= count_ / 2 ? PlaceOf(index) : PlaceFromEnd(index);
  if (block_->form == ChunkForm::kTexts) CopyPrefix(scratch_);
}

void ChunkCursor::CopyPrefix(Scratch& scratch) const { UnpackPrefix(*block_, scratch.data()); }

uint32_t ChunkCursor::LongElementBytes(uint32_t place, uint8_t length_byte) const {
  return ReadMark(block_->At(place), length_byte) + 2 * MarkBytes(length_byte);
}

uint32_t ChunkCursor::StepEndingAt(uint32_t index, uint32_t place) const {
  if (block_->form != ChunkForm::kOpen) return SealedStep(index);
  const uint8_t length = block_->Length(index);
  if (length < kMark16) return length;
  return ReadMark(block_->At(place - MarkBytes(length)), length) + 2 * MarkBytes(length);
}

uint32_t ChunkCursor::PlaceOf(uint32_t index) const {
  if (!block_->HasLengths()) return block_->begin + index * SealedStep(index);
  if (!block_->may_have_long_elements) return block_->begin + SumOfBytes(block_->At(block_->lengths_offset), index);
  uint32_t place = block_->begin;
  for (uint32_t i = 0; i < index; ++i) {
    const uint8_t length = block_->Length(i);
    place += length < kMark16 ? length : LongElementBytes(place, length);
  }
  return place;
}

uint32_t ChunkCursor::PlaceFromEnd(uint32_t index) const {
  if (!block_->HasLengths()) return block_->begin + index * SealedStep(index);
  if (!block_->may_have_long_elements)
    return block_->end - SumOfBytes(block_->At(block_->lengths_offset + index), count_ - index);
  uint32_t place = block_->end;
  for (uint32_t i = count_; i > index; --i) place -= StepEndingAt(i - 1, place);
  return place;
}

void ChunkCursor::Previous() {
  --index_;  // wraps around at the first element and so becomes invalid
  if (IsValid()) place_ -= StepEndingAt(index_, place_);
}

Bytes ChunkCursor::DecodeSlowElement(Scratch& scratch) const {
  switch (block_->form) {
    case ChunkForm::kOpen: {
      const uint8_t length = block_->Length(index_);
      return {block_->At(place_ + MarkBytes(length)), ReadMark(block_->At(place_), length)};
    }
    case ChunkForm::kTexts:
      return UnpackText(*block_, place_, SealedStep(index_), scratch.data());
    case ChunkForm::kIntegers:
      return UnpackInteger(*block_, place_, scratch.data());
  }
  return {};
}

}  // namespace respite
