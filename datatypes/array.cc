#include "datatypes/array.h"

#include <algorithm>
#include <vector>

namespace respite {

namespace {

constexpr uint64_t kBlocksOfSlice = ArrayTable::kSliceIndexes / ArrayBlock::kIndexes;

// Returns for how many elements a block with `count` elements has memory: as many as fit into the size class of the
// allocator. So most new elements need no larger block. Requires: count > 1.
uint32_t CapacityFor(uint32_t count) {
  const uint32_t step = count <= 16 ? 2 : count <= 32 ? 4 : 8;
  return (count + step - 1) / step * step;
}

}  // namespace

ArrayTable::~ArrayTable() { FreeElements(); }

void ArrayTable::FreeElements() {
  for (auto at = blocks_.First(); !at.AtEnd(); at.Next()) {
    ArrayBlock& block = blocks_.At(at);
    const uint32_t count = block.Count();
    for (uint32_t i = 0; i < count; ++i) ArrayElement::Destroy(block.Elements()[i]);
    if (count > 1) std::free(block.many);
  }
}

std::unique_ptr<Object> ArrayTable::Clone() const {
  auto copy = std::make_unique<ArrayTable>();
  VisitRange(0, kMaxIndex, [&](uint64_t index, const ArrayElement& element) {
    copy->Set(index, ArrayText(element).View());
    return true;
  });
  copy->last_insert_ = last_insert_;
  return copy;
}

size_t ArrayTable::UsedBytes(size_t /*samples*/) const {
  return sizeof(*this) + blocks_.UsedBytes() + block_bytes_ + text_bytes_;
}

uint64_t ArrayTable::Length() const {
  const auto last = blocks_.Last();
  if (last.AtEnd()) return 0;
  return last.Id() * ArrayBlock::kIndexes + static_cast<uint64_t>(std::bit_width(last.Get().used));
}

const ArrayElement* ArrayTable::Get(uint64_t index) const {
  const ArrayBlock* block = blocks_.Find(BlockOf(index));
  if (block == nullptr || !block->Has(OffsetOf(index))) return nullptr;
  return block->Elements() + block->PlaceOf(OffsetOf(index));
}

bool ArrayTable::Set(uint64_t index, Bytes text) {
  const ArrayElement element = ArrayElement::Create(text);
  ArrayBlock* block = blocks_.Find(BlockOf(index));
  if (block == nullptr || !block->Has(OffsetOf(index))) {
    Put(index, element);
    return true;
  }
  text_bytes_ += element.UsedBytes();
  Free(std::exchange(block->Elements()[block->PlaceOf(OffsetOf(index))], element));
  return false;
}

bool ArrayTable::HasSliceOf(uint64_t block) const {
  const uint64_t slice = block / kBlocksOfSlice;
  const auto at = blocks_.AtOrAfter(slice * kBlocksOfSlice);
  return !at.AtEnd() && at.Id() / kBlocksOfSlice == slice;
}

void ArrayTable::Put(uint64_t index, ArrayElement element) {
  const uint64_t number = BlockOf(index);
  ++count_;
  text_bytes_ += element.UsedBytes();
  if (ArrayBlock* block = blocks_.Find(number)) return Insert(*block, OffsetOf(index), element);
  if (!HasSliceOf(number)) ++slices_;
  ArrayBlock block;
  block.used = uint64_t{1} << OffsetOf(index);
  block.one = element;
  blocks_.Insert(number, block);
}

void ArrayTable::Insert(ArrayBlock& block, uint32_t offset, ArrayElement element) {
  const uint32_t count = block.Count();
  if (count == 1) {
    const ArrayElement only = block.one;
    block.many = static_cast<ArrayElement*>(AllocateOrEnd(CapacityFor(2) * sizeof(ArrayElement)));
    block.many[0] = only;
    block_bytes_ += malloc_usable_size(block.many);
  } else if (CapacityFor(count) == count) {
    block_bytes_ -= malloc_usable_size(block.many);
    block.many = static_cast<ArrayElement*>(ReallocateOrEnd(block.many, CapacityFor(count + 1) * sizeof(ArrayElement)));
    block_bytes_ += malloc_usable_size(block.many);
  }
  ArrayElement* at = block.many + block.PlaceOf(offset);
  std::copy_backward(at, block.many + count, block.many + count + 1);
  *at = element;
  block.used |= uint64_t{1} << offset;
}

void ArrayTable::Free(ArrayElement element) {
  text_bytes_ -= element.UsedBytes();
  ArrayElement::Destroy(element);
}

void ArrayTable::Erase(uint64_t number, ArrayBlock& block, uint64_t bits) {
  const uint32_t old_count = block.Count();
  ArrayElement* const elements = block.Elements();
  ArrayElement* kept = elements;
  ArrayElement* at = elements;
  for (uint64_t rest = block.used; rest != 0; rest &= rest - 1, ++at) {
    const uint64_t bit = rest & (~rest + 1);
    if ((bits & bit) != 0) {
      Free(*at);
    } else {
      *kept++ = *at;
    }
  }
  const auto count = static_cast<uint32_t>(kept - elements);
  count_ -= old_count - count;
  block.used &= ~bits;
  if (old_count == 1 || count == old_count) {
    // There is no memory to free or shrink: a block of one element has no allocated array (ArrayBlock::one), or nothing
    // was removed.
  } else if (count <= 1) {
    const ArrayElement only = count == 1 ? elements[0] : ArrayElement();
    block_bytes_ -= malloc_usable_size(elements);
    std::free(elements);
    block.one = only;
  } else if (CapacityFor(count) < CapacityFor(old_count)) {
    block_bytes_ -= malloc_usable_size(elements);
    block.many = static_cast<ArrayElement*>(ReallocateOrEnd(elements, CapacityFor(count) * sizeof(ArrayElement)));
    block_bytes_ += malloc_usable_size(block.many);
  }
  if (count > 0) return;
  blocks_.Erase(number);
  if (!HasSliceOf(number)) --slices_;
}

bool ArrayTable::Erase(uint64_t index) {
  ArrayBlock* block = blocks_.Find(BlockOf(index));
  if (block == nullptr || !block->Has(OffsetOf(index))) return false;
  Erase(BlockOf(index), *block, uint64_t{1} << OffsetOf(index));
  return true;
}

uint64_t ArrayTable::EraseRange(uint64_t first, uint64_t last) {
  const uint64_t count_before = count_;
  auto at = blocks_.AtOrAfter(BlockOf(first));
  while (!at.AtEnd() && at.Id() <= BlockOf(last)) {
    const uint64_t number = at.Id();
    ArrayBlock& block = blocks_.At(at);
    const uint64_t bits = block.used & BitsBetween(number, first, last);
    if (bits != 0) Erase(number, block, bits);
    at = blocks_.AtOrAfter(number + 1);  // the cursor may be invalid; a block number is below 2^58
  }
  return count_before - count_;
}

uint64_t ArrayTable::CountRange(uint64_t from, uint64_t to) const {
  const auto [first, last] = std::minmax(from, to);
  uint64_t count = 0;
  for (auto at = blocks_.AtOrAfter(BlockOf(first)); !at.AtEnd() && at.Id() <= BlockOf(last); at.Next()) {
    count += static_cast<uint64_t>(std::popcount(at.Get().used & BitsBetween(at.Id(), first, last)));
  }
  return count;
}

void ArrayTable::UnrollRing(uint64_t newest, uint64_t ring_size, uint64_t max_count) {
  std::vector<ArrayElement> kept;  // the newest first
  uint64_t expected = newest;
  const auto keep = [&](uint64_t index, const ArrayElement& element) {
    if (index != expected || kept.size() == max_count) return false;
    kept.push_back(element);
    const_cast<ArrayElement&>(element) = ArrayElement::Create("");  // the memory of the text now belongs to `kept`
    expected = index - 1;
    return true;
  };
  VisitBackward(newest, 0, keep);
  if (kept.size() == newest + 1 && newest + 1 < ring_size) {
    expected = ring_size - 1;
    VisitBackward(ring_size - 1, newest + 1, keep);
  }
  FreeElements();
  blocks_.Clear();
  count_ = slices_ = 0;
  block_bytes_ = text_bytes_ = 0;
  for (size_t i = kept.size(); i > 0; --i) Put(kept.size() - i, kept[i - 1]);
  last_insert_.reset();
  if (!kept.empty()) last_insert_ = kept.size() - 1;
}

ArrayTable::SliceStats ArrayTable::MeasureSlices() const {
  SliceStats stats;
  for (auto at = blocks_.First(); !at.AtEnd();) {
    const uint64_t slice = at.Id() / kBlocksOfSlice;
    const uint64_t first = at.Id() * ArrayBlock::kIndexes + static_cast<uint64_t>(std::countr_zero(at.Get().used));
    uint64_t end = first;
    uint64_t elements = 0;
    for (; !at.AtEnd() && at.Id() / kBlocksOfSlice == slice; at.Next()) {
      elements += at.Get().Count();
      end = at.Id() * ArrayBlock::kIndexes + static_cast<uint64_t>(std::bit_width(at.Get().used));
    }
    const bool is_dense = elements > kSparseMax;
    ++(is_dense ? stats.dense : stats.sparse);
    (is_dense ? stats.dense_elements : stats.sparse_elements) += elements;
    if (is_dense) stats.dense_span += end - first;
  }
  return stats;
}

bool ArrayTable::IsConsistent() const {
  uint64_t elements = 0;
  uint64_t slices = 0;
  uint64_t last_slice = UINT64_MAX;
  size_t block_bytes = 0;
  size_t text_bytes = 0;
  for (auto at = blocks_.First(); !at.AtEnd(); at.Next()) {
    const ArrayBlock& block = at.Get();
    if (block.used == 0) return false;
    elements += block.Count();
    if (at.Id() / kBlocksOfSlice != last_slice) ++slices;
    last_slice = at.Id() / kBlocksOfSlice;
    if (block.Count() > 1) block_bytes += malloc_usable_size(block.many);
    for (uint32_t i = 0; i < block.Count(); ++i) text_bytes += block.Elements()[i].UsedBytes();
  }
  return blocks_.IsConsistent() && elements == count_ && slices == slices_ && block_bytes == block_bytes_ &&
         text_bytes == text_bytes_ && (count_ == 0) == (Length() == 0);
}

}  // namespace respite
