// SortOrder: how SORT orders elements: by numbers or by texts, either way, and only as much of the result as is asked
// for.
//
// Each element gets a rank of 64 bits that orders like its number, or like the first octets of its text; the sort moves
// ranks and indexes alone. Texts are looked at where ranks are equal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

// Many short texts in one piece of memory. Views are good once all are in.
class TextPool {
 public:
  void Add(Bytes text) {
    octets_.append(text);
    ends_.push_back(octets_.size());
  }
  size_t Size() const { return ends_.size(); }
  void Reserve(size_t texts) { ends_.reserve(texts); }
  std::vector<Bytes> Views() const;

 private:
  std::string octets_;
  std::vector<size_t> ends_;
};

enum class SortDirection : uint8_t { kUp, kDown };

struct SortRange {
  size_t first = 0;
  size_t count = 0;
};

class SortOrder {
 public:
  // `elements` must outlive the order.
  SortOrder(SortDirection direction, std::span<const Bytes> elements) : direction_(direction), elements_(elements) {}

  // One of these, for each element in turn. Equal numbers are ordered by the elements.
  void AddNumber(double number) { Add(NumberRank(number)); }
  // The text of an element that is no view at all (data() is null) stands before every other.
  void SetTexts(std::span<const Bytes> texts);

  // Indexes of the elements at these places of the order. Equal elements keep their order. Requires: the range is
  // within the elements. Cost: O(n), and O(k * log(k)) for k elements of the same rank.
  std::vector<size_t> Select(SortRange range);

 private:
  struct Key {
    uint64_t rank;
    size_t index;
  };

  static uint64_t NumberRank(double number);
  static uint64_t TextRank(Bytes text);
  // A rank downwards is the complement of the one upwards.
  void Add(uint64_t rank) { keys_.push_back({direction_ == SortDirection::kUp ? rank : ~rank, keys_.size()}); }
  bool Precedes(const Key& one, const Key& other) const;
  using KeyIterator = std::vector<Key>::iterator;
  void Sort(KeyIterator first, KeyIterator last);
  static void SortByRank(KeyIterator first, KeyIterator last);

  SortDirection direction_;
  std::span<const Bytes> elements_;
  std::span<const Bytes> texts_;  // empty: the elements
  std::vector<Key> keys_;
};

}  // namespace respite
