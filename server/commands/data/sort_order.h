// SortOrder: orders elements for SORT by numbers or texts, ascending or descending. Sorts only the part that the result
// needs.
//
// Each element gets a rank of 64 bits. Ranks have the same order as the numbers, or as the first bytes of the texts.
// The sort moves only ranks and indexes, and compares texts only if ranks are equal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

class TextPool {  // many short texts in one block of memory. Views are valid once all texts are added
 public:
  void Add(Bytes text) {
    bytes_.append(text);
    ends_.push_back(bytes_.size());
  }
  size_t Size() const { return ends_.size(); }
  void Reserve(size_t texts) { ends_.reserve(texts); }  // reserves memory for this number of texts
  std::vector<Bytes> Views() const;                     // views of all texts

 private:
  std::string bytes_;         // the texts, one after the other
  std::vector<size_t> ends_;  // where each text ends in bytes_
};

enum class SortDirection : uint8_t { kUp, kDown };

struct SortRange {   // the part of the result that SORT returns
  size_t first = 0;  // index of the first element in the sorted order
  size_t count = 0;  // number of elements
};

class SortOrder {  // orders elements for SORT by numbers or texts
 public:
  // The array `elements` and its texts must outlive this object.
  SortOrder(SortDirection direction, std::span<const Bytes> elements) : direction_(direction), elements_(elements) {}

  void AddNumber(double number) { Add(NumberRank(number)); }  // sets the number of the next element
  void SetTexts(std::span<const Bytes> texts);  // sets a text for each element; a text with null data() is the least

  // Orders elements with equal numbers by their own texts. Elements with equal texts keep their order if `range` has
  // all elements; otherwise they get the order of Redis' partial quicksort (PartialSort). Requires: the range is within
  // the elements. Cost: O(n), and O(k * log(k)) for k elements of the same rank.
  std::vector<size_t> Select(SortRange range);  // sorts, and returns the indexes of the elements in this range

 private:
  struct Key {      // what the sort moves for one element
    uint64_t rank;  // orders like the number, or like the first bytes of the text
    size_t index;   // index of the element
  };

  static uint64_t NumberRank(double number);  // 64 bits that compare like the numbers
  static uint64_t TextRank(Bytes text);       // 64 bits that compare like the first 8 bytes of the texts
  // Adds the rank of the next element. For a descending sort, the rank is inverted, so that sorting is always
  // ascending.
  void Add(uint64_t rank) { keys_.push_back({direction_ == SortDirection::kUp ? rank : ~rank, keys_.size()}); }
  int Compare(const Key& one, const Key& other) const;    // negative: `one` comes first; 0: they are equal
  bool Precedes(const Key& one, const Key& other) const;  // whether `one` comes first in the result
  bool SortLikeRedis(SortRange range);  // sorts the range with PartialSort; false: too many comparisons
  std::vector<size_t> IndexesIn(SortRange range) const;  // the indexes of the keys in this range
  using KeyIterator = std::vector<Key>::iterator;
  void Sort(KeyIterator first, KeyIterator last);
  static void SortByRank(KeyIterator first, KeyIterator last);  // sorts by the ranks alone, and ignores texts

  SortDirection direction_;          // ascending or descending
  std::span<const Bytes> elements_;  // the elements to sort
  std::span<const Bytes> texts_;     // texts of SetTexts; empty: elements of equal rank are compared themselves
  std::vector<Key> keys_;            // one for each element
};

}  // namespace respite
