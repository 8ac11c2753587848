#include "datatypes/chunked_list.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

namespace respite {

namespace {

// As in Redis, an element counts as its length plus kEntryEstimate bytes when the list checks whether a chunk has room
// for the element.
constexpr size_t kEntryEstimate = 8;
// The chunk next to an end chunk is sealed when the block of the end chunk reaches this size, or when another chunk is
// added. So pushes and pops that alternate at a chunk boundary do not pack and unpack a chunk repeatedly.
constexpr size_t kSettledBytes = 1024;
// The maximum size of the content of a block in bytes, because offsets in a block have 32 bits.
constexpr size_t kMaxBlockContent = size_t{1} << 31;

}  // namespace

size_t ChunkLimit::MaxBytes() const {
  constexpr std::array<size_t, 5> kBytes = {4096, 8192, 16384, 32768, 65536};
  if (fill_ >= 0) return std::numeric_limits<size_t>::max();
  return kBytes[static_cast<size_t>(std::min<int64_t>(-(fill_ + 1), kBytes.size() - 1))];
}

size_t ChunkLimit::MaxCount() const {
  if (fill_ < 0) return std::numeric_limits<size_t>::max();
  return static_cast<size_t>(std::max<int64_t>(fill_, 1));
}

bool ChunkLimit::Admits(size_t listpack_bytes, size_t count) const {
  constexpr size_t kMaxCountedBytes = 8192;
  if (fill_ < 0) return listpack_bytes <= MaxBytes();
  return listpack_bytes <= kMaxCountedBytes && count <= MaxCount();
}

void ChunkRow::AddCapacityInFront() {
  const size_t gap = std::max<size_t>(2, chunk_places_.size() / 2);
  std::vector<ListChunk> roomy;
  roomy.reserve(chunk_places_.size() + gap);
  roomy.resize(gap);
  std::move(chunk_places_.begin(), chunk_places_.end(), std::back_inserter(roomy));
  chunk_places_ = std::move(roomy);
  front_gap_ = gap;
}

ListChunk& ChunkRow::Insert(size_t i) {
  if (i == 0 && Size() > 0) {
    if (front_gap_ == 0) AddCapacityInFront();
    return chunk_places_[--front_gap_];
  }
  if (chunk_places_.size() == chunk_places_.capacity() && front_gap_ > Size()) {
    chunk_places_.erase(chunk_places_.begin(), chunk_places_.begin() + static_cast<ptrdiff_t>(front_gap_));
    front_gap_ = 0;
  }
  return *chunk_places_.emplace(chunk_places_.begin() + static_cast<ptrdiff_t>(front_gap_ + i));
}

void ChunkRow::Erase(size_t i, size_t count) {
  if (count == Size()) {
    chunk_places_.clear();
    front_gap_ = 0;
  } else if (i == 0) {
    for (size_t k = 0; k < count; ++k) chunk_places_[front_gap_ + k] = ListChunk();
    front_gap_ += count;
  } else {
    const auto from = chunk_places_.begin() + static_cast<ptrdiff_t>(front_gap_ + i);
    chunk_places_.erase(from, from + static_cast<ptrdiff_t>(count));
  }
}

ChunkedList::Cursor::Cursor(const ChunkedList& list, Place place) : list_(&list), chunk_(place.chunk) {
  if (chunk_ < list.ChunkCount()) cursor_.Seek(list.row_[chunk_], place.index);
}

void ChunkedList::Cursor::EnterNextChunk() {
  if (++chunk_ < list_->ChunkCount()) cursor_.Seek(list_->row_[chunk_], 0);
}

void ChunkedList::Cursor::EnterPreviousChunk() {
  if (chunk_ == 0) return;
  --chunk_;
  cursor_.Seek(list_->row_[chunk_], list_->row_[chunk_].Count() - 1);
}

std::unique_ptr<Object> ChunkedList::Clone() const {
  auto copy = std::make_unique<ChunkedList>(limit_);
  for (size_t i = 0; i < row_.Size(); ++i) copy->AppendChunk(row_[i].Clone());
  return copy;
}

size_t ChunkedList::UsedBytes(size_t samples) const {
  const size_t looked_at = samples == 0 ? row_.Size() : std::min(samples, row_.Size());
  size_t bytes = 0;
  for (size_t i = 0; i < looked_at; ++i) bytes += row_[i].UsedBytes();
  if (looked_at > 0) bytes = bytes / looked_at * row_.Size() + bytes % looked_at;
  return sizeof(*this) + row_.UsedBytes() + bytes;
}

bool ChunkedList::HasCapacityFor(size_t chunk, Bytes element) const {
  if (chunk >= row_.Size()) return false;
  const ListChunk& there = row_[chunk];
  return limit_.Admits(there.ListpackBytes() + element.size() + kEntryEstimate, there.Count() + 1);
}

ListChunk& ChunkedList::AddChunkAt(ListEnd end) {
  SealSecondChunk(end);
  return row_.Insert(end == ListEnd::kHead ? 0 : row_.Size());
}

void ChunkedList::SealSecondChunk(ListEnd end) {
  if (row_.Size() < 2) return;
  row_[end == ListEnd::kHead ? 1 : row_.Size() - 2].Seal();
}

void ChunkedList::Push(ListEnd end, Bytes element) {
  const bool has_room = size_ > 0 && HasCapacityFor(Edge(end), element);
  ListChunk& chunk = has_room ? row_[Edge(end)] : AddChunkAt(end);
  const size_t old_bytes = chunk.UsedBytes();
  if (end == ListEnd::kHead) {
    chunk.PushFront(element);
  } else {
    chunk.PushBack(element);
  }
  ++size_;
  if (chunk.UsedBytes() != old_bytes && chunk.UsedBytes() >= kSettledBytes) SealSecondChunk(end);
}

void ChunkedList::Pop(ListEnd end) {
  const size_t edge = Edge(end);
  ListChunk& chunk = row_[edge];
  if (chunk.Count() == 1) {
    row_.Erase(edge, 1);
  } else if (end == ListEnd::kHead) {
    chunk.PopFront();
  } else {
    chunk.PopBack();
  }
  --size_;
}

void ChunkedList::AppendChunk(ListChunk chunk) {
  size_ += chunk.Count();
  row_.Insert(row_.Size()) = std::move(chunk);
}

ChunkedList::Place ChunkedList::PlaceOf(size_t index) const {
  if (index < size_ / 2) {
    size_t chunk = 0;
    for (; index >= row_[chunk].Count(); ++chunk) index -= row_[chunk].Count();
    return {chunk, static_cast<uint32_t>(index)};
  }
  size_t chunk = row_.Size() - 1;
  size_t first = size_ - row_[chunk].Count();
  for (; index < first; --chunk) first -= row_[chunk - 1].Count();
  return {chunk, static_cast<uint32_t>(index - first)};
}

std::optional<ChunkedList::Place> ChunkedList::Find(Bytes element) const {
  for (Cursor cursor(*this, {}); cursor.IsValid(); cursor.Next()) {
    if (cursor.Element() == element) return cursor.CurrentPlace();
  }
  return std::nullopt;
}

// Splits a chunk before `place`: moves the later elements of the chunk, from `place` on, into a new chunk. Returns the
// new chunk.
ListChunk& ChunkedList::SplitBefore(Place place) {
  ListChunk rest = row_[place.chunk].SplitOff(place.index);
  ListChunk& added = row_.Insert(place.chunk + 1);
  added = std::move(rest);
  return added;
}

// Inserts the element before `place`, into the chunk of `place` if that has room. Otherwise does what Redis does. At
// the start of a full chunk, the previous chunk takes the element if it has room, else the element gets a new chunk.
// Inside a full chunk, the chunk splits, and then small neighbours merge.
void ChunkedList::InsertBefore(Place place, Bytes element) {
  const auto [chunk, index] = place;
  ++size_;
  if (HasCapacityFor(chunk, element)) return row_[chunk].Insert(index, element);
  if (index == 0 && chunk > 0 && HasCapacityFor(chunk - 1, element)) return row_[chunk - 1].PushBack(element);
  if (index == 0) return row_.Insert(chunk).PushBack(element);
  SplitBefore(place);
  row_[chunk].PushBack(element);
  MergeAround(chunk + 1);
}

void ChunkedList::InsertAfter(Place place, Bytes element) {
  const auto [chunk, index] = place;
  const bool is_last = index + 1 == row_[chunk].Count();
  ++size_;
  if (HasCapacityFor(chunk, element)) return row_[chunk].Insert(index + 1, element);
  if (is_last && HasCapacityFor(chunk + 1, element)) return row_[chunk + 1].PushFront(element);
  if (is_last) return row_.Insert(chunk + 1).PushBack(element);
  SplitBefore({chunk, index + 1}).PushFront(element);
  MergeAround(chunk);
}

// Merges the chunks `left` and `left` + 1 if list-max-listpack-size allows a chunk of both. As in Redis, the header and
// the end byte of a listpack count only once in the sum of the sizes. Returns true if the chunks were merged.
bool ChunkedList::MergeIfSmall(size_t left) {
  if (left + 1 >= row_.Size()) return false;
  ListChunk& a = row_[left];
  const ListChunk& b = row_[left + 1];
  if (!limit_.Admits(a.ListpackBytes() + b.ListpackBytes() - kListpackFrame, a.Count() + b.Count())) return false;
  a.Append(b);
  row_.Erase(left + 1, 1);
  return true;
}

// Merges small chunks around chunk `centre`, in the order of Redis. First come the two before the centre, then the two
// after the centre, then the centre with its left neighbour, then the result with its right neighbour.
void ChunkedList::MergeAround(size_t centre) {
  if (centre >= 2 && MergeIfSmall(centre - 2)) --centre;
  MergeIfSmall(centre + 1);
  if (centre >= 1 && MergeIfSmall(centre - 1)) --centre;
  MergeIfSmall(centre);
}

// Replaces an element. If the chunk would need more than kMaxBlockContent bytes and has other elements, the new element
// gets its own chunk.
void ChunkedList::Replace(Place place, Bytes element) {
  const auto [chunk, index] = place;
  ListChunk& there = row_[chunk];
  if (there.Count() == 1 || there.ListpackBytes() + element.size() < kMaxBlockContent) {
    return there.Replace(index, element);
  }
  SplitBefore({chunk, index + 1});
  row_[chunk].PopBack();
  if (row_[chunk + 1].IsEmpty()) row_.Erase(chunk + 1, 1);
  if (row_[chunk].IsEmpty()) return row_[chunk].PushBack(element);
  row_.Insert(chunk + 1).PushBack(element);
}

void ChunkedList::EraseRange(size_t index, size_t count) {
  if (count == 0) return;
  auto [chunk, offset] = PlaceOf(index);
  size_ -= count;
  const size_t in_first = std::min<size_t>(count, row_[chunk].Count() - offset);
  if (in_first < row_[chunk].Count()) {
    row_[chunk].Erase(offset, static_cast<uint32_t>(in_first));
    count -= in_first;
    ++chunk;
  }
  size_t behind = chunk;
  for (; count > 0 && row_[behind].Count() <= count; ++behind) count -= row_[behind].Count();
  if (count > 0) row_[behind].Erase(0, static_cast<uint32_t>(count));
  if (behind > chunk) row_.Erase(chunk, behind - chunk);
}

size_t ChunkedList::EraseEqualInChunk(ListChunk& chunk, Bytes element, size_t max_count, ListEnd from) {
  const bool was_sealed = chunk.IsSealed();
  size_t erased = 0;
  ChunkCursor cursor(chunk, from == ListEnd::kHead ? 0 : chunk.Count() - 1);
  while (cursor.IsValid() && erased < max_count) {
    const uint32_t index = cursor.Index();
    if (cursor.Element() == element) {
      chunk.Erase(index, 1);
      ++erased;
      if (chunk.IsEmpty()) return erased;
      const uint32_t next = from == ListEnd::kHead ? index : index - 1;
      if (next >= chunk.Count()) break;
      cursor.Seek(chunk, next);
    } else if (from == ListEnd::kHead) {
      cursor.Next();
    } else {
      cursor.Previous();
    }
  }
  if (was_sealed && erased > 0) chunk.Seal();
  return erased;
}

size_t ChunkedList::EraseEqual(Bytes element, size_t max_count, ListEnd from) {
  size_t erased = 0;
  size_t left = row_.Size();
  size_t chunk = Edge(from);
  for (; left > 0 && erased < max_count; --left) {
    erased += EraseEqualInChunk(row_[chunk], element, max_count - erased, from);
    const bool is_gone = row_[chunk].IsEmpty();
    if (is_gone) row_.Erase(chunk, 1);
    if (from == ListEnd::kTail) {
      --chunk;
    } else if (!is_gone) {
      ++chunk;
    }
  }
  size_ -= erased;
  return erased;
}

bool ChunkedList::IsConsistent() const {
  size_t count = 0;
  for (size_t i = 0; i < row_.Size(); ++i) {
    if (row_[i].IsEmpty() || !row_[i].IsConsistent()) return false;
    count += row_[i].Count();
  }
  return count == size_;
}

}  // namespace respite
