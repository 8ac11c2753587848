// Array: texts at indexes from 0 to 2^64 - 2. Indexes without an element take no memory.
//
//   call.db.Read<Array>(key)        const Array   ┐
//   call.db.Open<Array>(key)        Edit<Array>   ├─► Array::Table(): ArrayTable
//   call.db.OpenOrCreate<Array>     Edit<Array>   ┘
//
//   Edit<Array> array = call.db.OpenOrCreate<Array>(key);
//   array->Table().Set(index, text);
//   array.ReportChange("arset");
//
// An array is an Object at any size (OBJECT ENCODING says "sliced-array"). The table is an OrderedMap of blocks. A
// block covers 64 neighbouring indexes, and stores only the elements that exist, in order:
//
//   blocks   index / 64 ─► ArrayBlock: used 0110…01 (64 bits) | elements ─► | 8 bytes | 8 bytes | 8 bytes |
//
// The place of an element in its block is the number of bits below its own in `used`. A block with one element stores
// this element itself instead of a pointer. So an element costs 8.5 bytes in a full array and about 30 bytes if it has
// no neighbours, and the memory of long texts.
//
// The cursor of ARINSERT and ARRING is part of the array.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "datatypes/array_element.h"
#include "datatypes/object.h"
#include "datatypes/ordered_map.h"
#include "datatypes/value_slot.h"

namespace respite {

struct ArrayBlock {                         // the elements at 64 neighbouring indexes
  static constexpr uint64_t kIndexes = 64;  // number of indexes that a block covers

  ArrayBlock() : one() {}

  uint64_t used = 0;  // bit i: there is an element at offset i
  union {
    ArrayElement one;    // the element, if there is one
    ArrayElement* many;  // the elements in order, if there are several
  };

  uint32_t Count() const { return static_cast<uint32_t>(std::popcount(used)); }  // number of elements
  bool Has(uint32_t offset) const { return (used >> offset & 1) != 0; }  // true: there is an element at this offset
  uint32_t PlaceOf(uint32_t offset) const {                              // number of elements before this offset
    return static_cast<uint32_t>(std::popcount(used & ((uint64_t{1} << offset) - 1)));
  }
  const ArrayElement* Elements() const { return Count() == 1 ? &one : many; }  // the elements, in order of offset
  ArrayElement* Elements() { return Count() == 1 ? &one : many; }              // the elements, in order of offset
};

class ArrayTable final : public Object {  // the value of an array: elements by index, and the insert cursor
 public:
  static constexpr uint64_t kMaxIndex = UINT64_MAX - 1;  // the greatest index that an element may have

  ArrayTable() = default;
  ~ArrayTable() override;

  std::unique_ptr<Object> Clone() const override;  // returns a deep copy
  size_t Size() const override { return count_; }
  size_t UsedBytes(size_t samples) const override;  // memory in bytes, exact (ignores `samples`); cost: O(n / 4000)

  uint64_t Count() const { return count_; }  // number of elements
  // Cost: O(1).
  uint64_t Length() const;  // greatest index of an element plus one; 0: the array is empty

  // Cost of Get, Set, and Erase: O(log n). Set takes O(1) if it appends.

  // The pointer is valid until the next change.
  const ArrayElement* Get(uint64_t index) const;  // the element at this index; null: none
  // Requires: index <= kMaxIndex; `text` is not a view of this array.
  bool Set(uint64_t index, Bytes text);  // stores a text; true: the index was empty before
  bool Erase(uint64_t index);            // removes an element; false: there is none
  // Both ends are included. Cost: O(removed * log n).
  uint64_t EraseRange(uint64_t first, uint64_t last);  // removes elements; returns their number

  // Calls visit(index, const ArrayElement&) for each element from index `from` to index `to`, in descending order if
  // `to` is less. Stops when `visit` returns false. `visit` must not change the array. Cost: O(log n + visited).
  template <class Visit>
  void VisitRange(uint64_t from, uint64_t to, Visit&& visit) const {  // visits elements until visit() returns false
    from <= to ? VisitForward(from, to, visit) : VisitBackward(from, to, visit);
  }

  // Either index may be the lower one, and both are included. Cost: O(log n + visited / 64).
  uint64_t CountRange(uint64_t from, uint64_t to) const;  // number of elements between two indexes

  // The index where ARINSERT or ARRING inserted last, or the one before the index that ARSEEK has set.
  std::optional<uint64_t> LastInsert() const { return last_insert_; }  // nullopt: the next insertion is at index 0
  void SetLastInsert(std::optional<uint64_t> index) { last_insert_ = index; }  // sets LastInsert(); at most kMaxIndex

  // UnrollRing is for ARRING with another ring size than before. The old ring has the indexes 0 to `ring_size` - 1, and
  // its newest element is at `newest`. The elements that are kept get the indexes 0, 1, … in order of age, the oldest
  // first. Keeps at most `max_count` elements and, as in Redis, none that is older than an empty index. Sets
  // LastInsert() to the new index of the newest element. Requires: newest < ring_size. Cost: O(n).
  void UnrollRing(uint64_t newest, uint64_t ring_size,  // moves the newest elements to 0, 1, …; removes all others
                  uint64_t max_count);

  // A slice, as ARINFO counts them, is a range of 4096 indexes that has elements.
  static constexpr uint64_t kSliceIndexes = 4096;  // number of indexes of a slice
  uint64_t Slices() const { return slices_; }      // number of slices that have elements
  struct SliceStats {                              // totals over all slices, for ARINFO FULL
    uint64_t dense = 0;                            // slices with more than kSparseMax elements
    uint64_t sparse = 0;                           // slices with at most kSparseMax elements
    uint64_t dense_span = 0;                       // sum over the dense slices: last minus first index, plus 1
    uint64_t dense_elements = 0;                   // elements in dense slices
    uint64_t sparse_elements = 0;                  // elements in sparse slices
  };
  static constexpr uint64_t kSparseMax = 10;  // a slice with at most this many elements counts as sparse
  SliceStats MeasureSlices() const;           // totals over all slices; cost: O(number of blocks)

  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  using Blocks = OrderedMap<uint64_t, ArrayBlock>;

  static uint64_t BlockOf(uint64_t index) { return index / ArrayBlock::kIndexes; }  // number of the index's block
  static uint32_t OffsetOf(uint64_t index) {  // the place of the index in its block
    return static_cast<uint32_t>(index % ArrayBlock::kIndexes);
  }
  // Returns which indexes of the block `number` are in the range from `first` to `last` of the array, as a bit mask:
  // bit i stands for the block's index i. Requires: the block overlaps the range.
  static uint64_t BitsBetween(uint64_t number, uint64_t first,
                              uint64_t last) {  // the part of a block that is in this range
    uint64_t bits = UINT64_MAX;
    if (number == BlockOf(first)) bits &= UINT64_MAX << OffsetOf(first);
    if (number == BlockOf(last)) bits &= UINT64_MAX >> (ArrayBlock::kIndexes - 1 - OffsetOf(last));
    return bits;
  }
  template <class Visit>
  void VisitForward(uint64_t first, uint64_t last, Visit&& visit) const;  // visits `first` to `last` ascending
  template <class Visit>
  void VisitBackward(uint64_t last, uint64_t first, Visit&& visit) const;  // visits from `last` down to `first`

  bool HasSliceOf(uint64_t block) const;           // true: a block of the same slice (4096 indexes) has elements
  void Put(uint64_t index, ArrayElement element);  // stores an element; requires: the index is empty
  void Insert(ArrayBlock& block, uint32_t offset, ArrayElement element);  // adds an element to a block
  void Erase(uint64_t number, ArrayBlock& block, uint64_t bits);  // removes the elements of `bits`, and an empty block
  void FreeElements();                                            // frees the memory of all elements
  void Free(ArrayElement element);                                // frees the memory of an element

  Blocks blocks_;                        // the blocks that have elements, by index / 64
  uint64_t count_ = 0;                   // number of elements
  uint64_t slices_ = 0;                  // number of slices that have elements
  size_t block_bytes_ = 0;               // memory of the elements of all blocks, without their texts
  size_t text_bytes_ = 0;                // memory of the texts outside the blocks
  std::optional<uint64_t> last_insert_;  // index before the next insertion; nullopt: the next is at index 0
};

class Array : public Collection {  // gives access to the array of one key
 public:
  static constexpr ValueType kType = ValueType::kArray;  // the type of an entry that holds an array
  static std::unique_ptr<Object> MakeInitialObject() { return std::make_unique<ArrayTable>(); }  // makes an empty array

  explicit Array(const CollectionContext& place) : Collection(place) {}

  bool IsEmpty() const { return !Exists() || Table().Count() == 0; }  // true: no elements, or no such key
  // Requires: Exists().
  ArrayTable& Table() { return slot_.As<ArrayTable>(); }              // the elements, for changes
  const ArrayTable& Table() const { return slot_.As<ArrayTable>(); }  // the elements
};

template <class Visit>
void ArrayTable::VisitForward(uint64_t first, uint64_t last, Visit&& visit) const {  // visits in ascending order
  for (auto at = blocks_.AtOrAfter(BlockOf(first)); !at.AtEnd() && at.Id() <= BlockOf(last); at.Next()) {
    const ArrayBlock& block = at.Get();
    uint64_t bits = block.used & BitsBetween(at.Id(), first, last);
    if (bits == 0) continue;
    const ArrayElement* element = block.Elements() + block.PlaceOf(static_cast<uint32_t>(std::countr_zero(bits)));
    for (; bits != 0; bits &= bits - 1, ++element) {
      const auto offset = static_cast<uint64_t>(std::countr_zero(bits));
      if (!visit(at.Id() * ArrayBlock::kIndexes + offset, *element)) return;
    }
  }
}

template <class Visit>
void ArrayTable::VisitBackward(uint64_t last, uint64_t first, Visit&& visit) const {  // visits in descending order
  for (auto at = blocks_.AtOrBefore(BlockOf(last)); !at.AtEnd() && at.Id() >= BlockOf(first); at.Previous()) {
    const ArrayBlock& block = at.Get();
    uint64_t bits = block.used & BitsBetween(at.Id(), first, last);
    if (bits == 0) continue;
    const ArrayElement* element = block.Elements() + block.PlaceOf(static_cast<uint32_t>(std::bit_width(bits) - 1));
    for (; bits != 0; --element) {
      const auto offset = static_cast<uint64_t>(std::bit_width(bits) - 1);
      if (!visit(at.Id() * ArrayBlock::kIndexes + offset, *element)) return;
      bits ^= uint64_t{1} << offset;
    }
  }
}

}  // namespace respite
