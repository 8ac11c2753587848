// PartialSort: orders part of a sequence, with equal elements in the order that Redis gives them.
//
// The method is the quicksort of Bentley and McIlroy ("Engineering a sort function", 1993): the pivot is a median, and
// elements that equal the pivot are collected at both ends and then moved to the middle. A part of the sequence that
// contains no wanted place is left unsorted. Redis uses this method for SORT with BY and LIMIT, and for COUNT of
// GEOSEARCH, where the order of equal elements decides which of them are in the result.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace respite {

template <class T, class Compare>
class PartialSort {  // sorts only a range of places of the sorted order
 public:
  // `compare(a, b)` is negative if `a` comes first, positive if `b` comes first, and 0 if they are equal.
  PartialSort(std::vector<T>& items, Compare compare) : items_(items), compare_(compare) {}

  // Sorts so that the places `first` to `last` (indexes, both inclusive) have the elements that belong there, in order.
  // Returns false, with the elements in any order, if this takes far more comparisons than usual, because a client may
  // have chosen such elements. Cost: O(n), and O(k log k) for k places.
  bool Sort(size_t first, size_t last) {  // sorts places first to last (inclusive); false: gave up
    first_ = first;
    last_ = last;
    const size_t size = items_.size();
    compares_left_ = kComparesPerItem * (size + kFewItems) * static_cast<size_t>(std::bit_width(size));
    SortPart(0, size);
    return compares_left_ != 0;
  }

 private:
  static constexpr size_t kComparesPerItem = 8;  // maximum comparisons per item, for each bit of the number of items
  static constexpr size_t kFewItems = 7;         // fewer items are sorted by insertion
  static constexpr size_t kManyItems = 40;       // for more items than this, the pivot is a median of nine

  int Compared(size_t one, size_t other) {  // compares the items at two indexes; 0 if compares_left_ is used up
    if (compares_left_ == 0) return 0;
    --compares_left_;
    return compare_(items_[one], items_[other]);
  }
  void Swap(size_t one, size_t other) { std::swap(items_[one], items_[other]); }
  void SwapRanges(size_t one, size_t other, size_t count) {  // swaps two ranges of `count` items each
    for (size_t i = 0; i < count; ++i) Swap(one + i, other + i);
  }
  size_t MedianOf(size_t a, size_t b, size_t c) {  // which of three places has the middle element
    if (Compared(a, b) < 0) return Compared(b, c) < 0 ? b : Compared(a, c) < 0 ? c : a;
    return Compared(b, c) > 0 ? b : Compared(a, c) < 0 ? a : c;
  }
  size_t PivotOf(size_t begin, size_t size) {  // chooses the pivot of a part; returns its place
    const size_t middle = begin + size / 2;
    const size_t last = begin + size - 1;
    if (size <= kFewItems) return middle;
    if (size <= kManyItems) return MedianOf(begin, middle, last);
    const size_t step = size / 8;
    const size_t low = MedianOf(begin, begin + step, begin + 2 * step);
    const size_t mid = MedianOf(middle - step, middle, middle + step);
    const size_t high = MedianOf(last - 2 * step, last - step, last);
    return MedianOf(low, mid, high);
  }
  void InsertionSort(size_t begin, size_t size) {  // sorts a small part
    for (size_t i = begin + 1; i < begin + size; ++i)
      for (size_t j = i; j > begin && Compared(j - 1, j) > 0; --j) Swap(j - 1, j);
  }
  bool IsWanted(size_t begin, size_t size) const {  // true: the part has a place from first_ to last_
    return size > 0 && begin <= last_ && begin + size - 1 >= first_;
  }

  void SortPart(size_t begin, size_t size) {  // sorts a part, or at least the wanted places in it
    while (size >= kFewItems && compares_left_ != 0) {
      Swap(begin, PivotOf(begin, size));
      const Middle middle = Partition(begin, size);
      if (middle.low > 1 && IsWanted(begin, middle.low)) SortPart(begin, middle.low);
      if (middle.high <= 1 || !IsWanted(begin + size - middle.high, middle.high)) return;
      begin += size - middle.high;
      size = middle.high;
    }
    InsertionSort(begin, size);
  }

  struct Middle {  // a part after Partition: lesser elements, equal ones, greater ones
    size_t low;    // number of elements that are less than the pivot
    size_t high;   // number of elements that are greater
  };
  Middle Partition(size_t begin, size_t size) {  // divides a part by its pivot, which is at `begin`
    size_t equal_end = begin + 1;                // elements before this place equal the pivot
    size_t low_end = begin + 1;                  // from equal_end to here, elements are less
    size_t high_begin = begin + size;            // from here to equal_begin, elements are greater
    size_t equal_begin = begin + size;           // from here, elements equal the pivot
    for (;;) {
      for (int order = 0; low_end < high_begin && (order = Compared(low_end, begin)) <= 0; ++low_end)
        if (order == 0) Swap(equal_end++, low_end);
      for (int order = 0; low_end < high_begin && (order = Compared(high_begin - 1, begin)) >= 0; --high_begin)
        if (order == 0) Swap(high_begin - 1, --equal_begin);
      if (low_end >= high_begin) break;
      Swap(low_end++, --high_begin);
    }
    const Middle middle = {.low = low_end - equal_end, .high = equal_begin - high_begin};
    const size_t front = std::min(equal_end - begin, middle.low);
    SwapRanges(begin, low_end - front, front);
    const size_t back = std::min(middle.high, begin + size - equal_begin);
    SwapRanges(low_end, begin + size - back, back);
    return middle;
  }

  std::vector<T>& items_;     // the elements, which are sorted in place
  Compare compare_;           // compares two elements
  size_t first_ = 0;          // the first wanted place
  size_t last_ = 0;           // the last wanted place
  size_t compares_left_ = 0;  // how many comparisons may still be made; 0: Sort has given up
};

}  // namespace respite
