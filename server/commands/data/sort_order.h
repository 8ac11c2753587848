// SortOrder: orders elements for SORT by numbers or texts, in both directions, and only the part that the result needs.
//
// Each element gets a rank of 64 bits that orders like its number, or like the first bytes of its text. The sort moves
// only ranks and indexes, and compares texts only if ranks are equal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

// Many short texts in one block of memory. Views are valid once all texts are added.
class TextPool {
 public:
  void Add(Bytes text) {
    bytes_.append(text);
    ends_.push_back(bytes_.size());
  }
  size_t Size() const { return ends_.size(); }
  void Reserve(size_t texts) { ends_.reserve(texts); }
  std::vector<Bytes> Views() const;

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

enum class SortDirection : uint8_t { kUp, kDown };

struct SortRange {
  size_t first = 0;
  size_t count = 0;
};

class SortOrder {
 public:
  // `elements` must outlive this object.
  SortOrder(SortDirection direction, std::span<const Bytes> elements) : direction_(direction), elements_(elements) {}

  // Sorts by numbers: the caller calls this for each element in turn. Equal numbers are ordered by the elements.
  void AddNumber(double number) { Add(NumberRank(number)); }
  // Sorts by texts, one for each element. The text of an element may be absent (data() is null); absent texts come
  // first.
  void SetTexts(std::span<const Bytes> texts);

  // Returns the indexes of the elements in this range of the order. The sort is stable. Requires: the range is within
  // the elements. Cost: O(n), and O(k * log(k)) for k elements of the same rank.
  std::vector<size_t> Select(SortRange range);

 private:
  struct Key {
    uint64_t rank;
    size_t index;
  };

  static uint64_t NumberRank(double number);
  static uint64_t TextRank(Bytes text);
  // Descending ranks are complements of ascending ones.
  void Add(uint64_t rank) { keys_.push_back({direction_ == SortDirection::kUp ? rank : ~rank, keys_.size()}); }
  bool Precedes(const Key& one, const Key& other) const;
  using KeyIterator = std::vector<Key>::iterator;
  void Sort(KeyIterator first, KeyIterator last);
  static void SortByRank(KeyIterator first, KeyIterator last);

  SortDirection direction_;
  std::span<const Bytes> elements_;
  std::span<const Bytes> texts_;  // empty: compare the elements
  std::vector<Key> keys_;
};

}  // namespace respite
