#include "server/commands/data/sort_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

#include "base/byte_order.h"
#include "server/commands/partial_sort.h"

namespace respite {

std::vector<Bytes> TextPool::Views() const {
  std::vector<Bytes> views;
  views.reserve(ends_.size());
  size_t begin = 0;
  for (size_t end : ends_) {
    views.push_back(Bytes(bytes_).substr(begin, end - begin));
    begin = end;
  }
  return views;
}

// Maps a number to a rank. Ranks compare as unsigned integers in the same way as the numbers. The bits of positive
// doubles have this order already, and the bits of negative doubles have the reverse order.
uint64_t SortOrder::NumberRank(double number) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto bits = std::bit_cast<uint64_t>(number + 0.0);  // -0 becomes 0
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

uint64_t SortOrder::TextRank(Bytes text) { return LoadBigPrefix(text); }

void SortOrder::SetTexts(std::span<const Bytes> texts) {
  texts_ = texts;
  keys_.reserve(texts.size());
  for (Bytes text : texts) Add(text.empty() ? 0 : TextRank(text));
}

int SortOrder::Compare(const Key& one, const Key& other) const {
  if (one.rank != other.rank) return one.rank < other.rank ? -1 : 1;
  const std::span<const Bytes> texts = texts_.empty() ? elements_ : texts_;
  const Bytes text = texts[one.index];
  const Bytes other_text = texts[other.index];
  int order = static_cast<int>(text.data() != nullptr) - static_cast<int>(other_text.data() != nullptr);
  if (order == 0) order = text.compare(other_text);
  return direction_ == SortDirection::kUp ? order : -order;
}

bool SortOrder::Precedes(const Key& one, const Key& other) const {
  const int order = Compare(one, other);
  return order == 0 ? one.index < other.index : order < 0;
}

// Sorts by one byte of the rank after the other, beginning with the lowest (LSD radix sort). Each pass keeps the order
// of equal bytes, so the highest byte decides in the end. Skips bytes that are equal in all ranks, as the high bytes of
// small integers are. Cost: O(n) for each byte that is not skipped.
void SortOrder::SortByRank(KeyIterator first, KeyIterator last) {
  constexpr size_t kBytes = sizeof(uint64_t);
  std::array<std::array<uint32_t, 256>, kBytes> counts{};
  for (auto key = first; key != last; ++key)
    for (size_t byte = 0; byte < kBytes; ++byte) ++counts[byte][(key->rank >> (8 * byte)) & 255];
  const auto size = static_cast<uint32_t>(last - first);
  std::vector<Key> from(first, last);
  std::vector<Key> to(from.size());
  for (size_t byte = 0; byte < kBytes; ++byte) {
    std::array<uint32_t, 256>& places = counts[byte];
    if (std::ranges::find(places, size) != places.end()) continue;
    std::exclusive_scan(places.begin(), places.end(), places.begin(), uint32_t{0});
    for (const Key& key : from) to[places[(key.rank >> (8 * byte)) & 255]++] = key;
    from.swap(to);
  }
  std::ranges::copy(from, first);
}

void SortOrder::Sort(KeyIterator first, KeyIterator last) {
  constexpr std::ptrdiff_t kManyKeys = 256;  // for fewer keys, comparing is faster than counting
  auto precedes = [this](const Key& one, const Key& other) { return Precedes(one, other); };
  if (last - first < kManyKeys || last - first > std::numeric_limits<uint32_t>::max())
    return std::sort(first, last, precedes);
  SortByRank(first, last);
  for (auto run = first; run != last;) {
    auto end = std::find_if(run, last, [&](const Key& key) { return key.rank != run->rank; });
    if (end - run > 1) std::sort(run, end, precedes);
    run = end;
  }
}

std::vector<size_t> SortOrder::Select(SortRange range) {
  auto precedes = [this](const Key& one, const Key& other) { return Precedes(one, other); };
  const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(range.first);
  const auto last = first + static_cast<std::ptrdiff_t>(range.count);
  const bool is_part = range.count > 0 && range.count < keys_.size();
  if (is_part && !texts_.empty() && SortLikeRedis(range)) return IndexesIn(range);
  if (range.first > 0 && range.count > 0) std::nth_element(keys_.begin(), first, keys_.end(), precedes);
  if (last != keys_.end() && range.count > 0) std::nth_element(first, last, keys_.end(), precedes);
  Sort(first, last);
  return IndexesIn(range);
}

bool SortOrder::SortLikeRedis(SortRange range) {
  PartialSort sort(keys_, [this](const Key& one, const Key& other) { return Compare(one, other); });
  return sort.Sort(range.first, range.first + range.count - 1);
}

std::vector<size_t> SortOrder::IndexesIn(SortRange range) const {
  std::vector<size_t> indexes;
  indexes.reserve(range.count);
  for (size_t i = 0; i < range.count; ++i) indexes.push_back(keys_[range.first + i].index);
  return indexes;
}

}  // namespace respite
