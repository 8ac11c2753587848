// Objects: the members of a JsonValue, and their order by name.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "datatypes/json/json_block.h"
#include "datatypes/json/json_value.h"

namespace respite {

namespace {

constexpr size_t kNamePartBytes = 8;

struct NamePart {  // some bytes of a name
  uint64_t bytes;  // the first of them is the most significant; zeros if the name ends before
  uint32_t left;   // bytes of the name from the part on; kNamePartBytes + 1: the name continues after the part
  uint32_t number;

  bool Continues() const { return left > kNamePartBytes; }
  bool operator<(const NamePart& other) const {
    return std::tie(bytes, left, number) < std::tie(other.bytes, other.left, other.number);
  }
};

struct NameRange {  // names to be sorted, whose first `offset` bytes are the same
  size_t first;
  size_t count;
  size_t offset;
};

class NameSort {
 public:
  NameSort(std::span<const uint32_t> numbers, const JsonMember* members) : members_(members), parts_(numbers.size()) {
    for (size_t i = 0; i < numbers.size(); ++i) parts_[i].number = numbers[i];
    if (!parts_.empty()) ranges_.push_back({0, parts_.size(), 0});
  }

  const std::vector<NamePart>& Sort() {
    while (!ranges_.empty()) {
      const NameRange range = ranges_.back();
      ranges_.pop_back();
      const std::span<NamePart> parts = std::span(parts_).subspan(range.first, range.count);
      if (range.count <= kFew) {
        SortFew(parts, range.offset);
      } else {
        SortPart(parts, {range.first, range.count, range.offset + CommonBytes(parts, range.offset)});
      }
    }
    return parts_;
  }

 private:
  static constexpr size_t kFew = 8;  // as many names are compared directly

  Bytes NameOf(const NamePart& part) const { return members_[part.number].name.AsString(); }

  void SortFew(std::span<NamePart> parts, size_t offset) const {
    std::ranges::sort(parts, [&](const NamePart& one, const NamePart& other) {
      const int compared = NameOf(one).substr(offset).compare(NameOf(other).substr(offset));
      return compared != 0 ? compared < 0 : one.number < other.number;
    });
  }

  // Returns how many bytes from `offset` on are the same in all names.
  size_t CommonBytes(std::span<const NamePart> parts, size_t offset) const {
    const Bytes first = NameOf(parts.front()).substr(offset);
    size_t common = first.size();
    for (size_t i = 1; i < parts.size() && common != 0; ++i) {
      const Bytes other = NameOf(parts[i]).substr(offset, common);
      common = static_cast<size_t>(std::ranges::mismatch(other, first).in1 - other.begin());
    }
    return common;
  }

  // Sorts by the next bytes of the names. Names that continue after the same bytes become ranges of their own.
  void SortPart(std::span<NamePart> parts, const NameRange& range) {
    for (NamePart& part : parts) {
      const Bytes rest = NameOf(part).substr(range.offset);
      part.bytes = 0;
      std::memcpy(&part.bytes, rest.data(), std::min(rest.size(), kNamePartBytes));
      part.bytes = __builtin_bswap64(part.bytes);
      part.left = static_cast<uint32_t>(std::min(rest.size(), kNamePartBytes + 1));
    }
    if (!std::ranges::is_sorted(parts, std::less<>())) std::ranges::sort(parts, std::less<>());
    for (size_t i = 0; i < parts.size();) {
      const size_t first = i++;
      while (i < parts.size() && parts[i].bytes == parts[first].bytes && parts[i].left == parts[first].left) ++i;
      if (i - first > 1 && parts[first].Continues()) {
        ranges_.push_back({range.first + first, i - first, range.offset + kNamePartBytes});
      }
    }
  }

  const JsonMember* members_;
  std::vector<NamePart> parts_;
  std::vector<NameRange> ranges_;  // the ranges that are not sorted yet
};

// Sorts numbers of members by the names of these members. Members with the same name are sorted by number. The names
// are compared 8 bytes at a time, from copies of these bytes, because the names themselves are far apart in memory.
// Cost: O(n log n), and O(bytes of the names).
void SortByName(std::span<uint32_t> numbers, const JsonMember* members) {
  NameSort sort(numbers, members);
  std::ranges::transform(sort.Sort(), numbers.begin(), &NamePart::number);
}

}  // namespace

std::span<JsonMember> JsonValue::Members() {
  if (GetBlock() == nullptr) return {};
  return {GetBlock()->Members(), GetBlock()->size};
}

std::span<const JsonMember> JsonValue::Members() const { return const_cast<JsonValue*>(this)->Members(); }

JsonMember* JsonValue::FindMember(Bytes name, size_t& place) const {
  Block* block = GetBlock();
  place = 0;
  if (block == nullptr) return nullptr;
  if (block->IsSorted()) {
    const uint32_t* found =
        std::lower_bound(block->Order(), block->Order() + block->size, name,
                         [&](uint32_t i, Bytes wanted) { return block->Members()[i].name.AsString() < wanted; });
    place = static_cast<size_t>(found - block->Order());
    return place < block->size && block->NameAt(place) == name ? &block->Members()[*found] : nullptr;
  }
  const JsonValue key = name.size() <= kShortMax ? String(name) : JsonValue();
  for (uint32_t i = 0; i < block->size; ++i) {
    JsonMember& member = block->Members()[i];
    if (key.word_ != 0 ? member.name.word_ == key.word_ : member.name.AsString() == name) return &member;
  }
  return nullptr;
}

JsonValue* JsonValue::Find(Bytes name) {
  size_t place = 0;
  JsonMember* member = FindMember(name, place);
  return member == nullptr ? nullptr : &member->value;
}

std::vector<JsonValue*> JsonValue::FindEach(std::span<const JsonMember> members, std::span<const uint32_t> by_name) {
  std::vector<JsonValue*> values(members.size());
  Block* block = GetBlock();
  if (block == nullptr || !block->IsSorted()) {
    for (size_t i = 0; i < members.size(); ++i) values[i] = Find(members[i].name.AsString());
    return values;
  }
  const auto is_before = [block](uint32_t number, Bytes name) {
    return block->Members()[number].name.AsString() < name;
  };
  size_t place = 0;  // in Order(): the names before it are less than all that are still to be found
  for (const uint32_t i : by_name) {
    const Bytes name = members[i].name.AsString();
    size_t step = 1;
    while (place + step <= block->size && is_before(block->Order()[place + step - 1], name)) {
      place += step;
      step *= 2;
    }
    uint32_t* end = block->Order() + std::min<size_t>(place + step, block->size);
    const uint32_t* found = std::lower_bound(block->Order() + place, end, name, is_before);
    place = static_cast<size_t>(found - block->Order());
    if (place < block->size && block->NameAt(place) == name) values[i] = &block->Members()[*found].value;
  }
  return values;
}

void JsonValue::AppendMember(JsonValue name, JsonValue value, size_t place) {
  const auto size = static_cast<uint32_t>(Size());
  const bool was_sorted = size != 0 && GetBlock()->IsSorted();
  Reserve(size + 1);
  Block* block = GetBlock();
  if (block->IsSorted() && !was_sorted) FindMember(name.AsString(), place);
  new (block->Members() + size) JsonMember{std::move(name), std::move(value)};
  block->size = size + 1;
  if (!block->IsSorted()) return;
  uint32_t* order = block->Order();
  std::memmove(order + place + 1, order + place, (size - place) * sizeof(uint32_t));
  order[place] = size;
}

void JsonValue::Set(Bytes name, JsonValue value) {
  size_t place = 0;
  if (JsonMember* member = FindMember(name, place)) {
    member->value = std::move(value);
  } else {
    AppendMember(String(name), std::move(value), place);
  }
}

void JsonValue::AppendMembers(std::span<JsonMember> members) {
  if (members.empty()) return;
  const size_t old_size = Size();
  Reserve(old_size + members.size());
  Block* block = GetBlock();
  for (JsonMember& member : members) new (block->Members() + block->size++) JsonMember(std::move(member));
  if (!block->IsSorted()) return;
  // Order() lists the old members, sorted by name. Appends the numbers of the new members; MergeNames then merges them
  // into the sorted order.
  std::iota(block->Order() + old_size, block->Order() + block->size, static_cast<uint32_t>(old_size));
  MergeNames(old_size);
}

void JsonValue::EraseMember(size_t place) {
  Block* block = GetBlock();
  const uint32_t last = block->size - 1;
  JsonMember* members = block->Members();
  if (block->IsSorted()) {
    size_t erased = 0, moved = 0;
    FindMember(members[place].name.AsString(), erased);
    FindMember(members[last].name.AsString(), moved);
    uint32_t* order = block->Order();
    order[moved] = static_cast<uint32_t>(place);
    std::memmove(order + erased, order + erased + 1, (last - erased) * sizeof(uint32_t));
  }
  if (place != last) members[place] = std::move(members[last]);
  members[last].~JsonMember();
  block->size = last;
  FitToSize();
}

void JsonValue::Arrange(std::span<const uint32_t> order, std::span<JsonMember> added) {
  const std::span<JsonMember> old_members = Members();
  const size_t old_size = old_members.size();
  const std::vector<uint32_t> old_by_name = MembersByName();
  std::vector<std::optional<uint32_t>> place_of(old_size + added.size());  // nullopt: the member is not kept
  JsonValue arranged = EmptyObject();
  arranged.Reserve(order.size());
  Block* const block = arranged.GetBlock();
  for (const uint32_t number : order) {
    place_of[number] = block->size;
    JsonMember& member = number < old_size ? old_members[number] : added[number - old_size];
    new (block->Members() + block->size++) JsonMember(std::move(member));
  }
  if (block != nullptr && block->IsSorted()) {
    uint32_t* next = block->Order();
    const auto note = [&](uint32_t number) {
      if (place_of[number]) *next++ = *place_of[number];
    };
    std::ranges::for_each(old_by_name, note);
    const auto sorted_count = static_cast<size_t>(next - block->Order());
    for (size_t i = 0; i < added.size(); ++i) note(static_cast<uint32_t>(old_size + i));
    arranged.MergeNames(sorted_count);
  }
  *this = std::move(arranged);
}

std::vector<uint32_t> JsonValue::MembersByName() const {
  Block* block = GetBlock();
  if (block == nullptr) return {};
  if (block->IsSorted()) return {block->Order(), block->Order() + block->size};
  std::vector<uint32_t> numbers(block->size);
  std::iota(numbers.begin(), numbers.end(), 0U);
  std::ranges::sort(numbers, {}, [&](uint32_t number) { return block->Members()[number].name.AsString(); });
  return numbers;
}

void JsonValue::SortNames() {
  Block* block = GetBlock();
  std::iota(block->Order(), block->Order() + block->size, 0U);
  MergeNames(0);
}

void JsonValue::MergeNames(size_t sorted_count) {
  Block* block = GetBlock();
  uint32_t* const order = block->Order();
  const auto by_name = [block](uint32_t one, uint32_t other) {
    return block->Members()[one].name.AsString() < block->Members()[other].name.AsString();
  };
  const size_t added = block->size - sorted_count;
  SortByName({order + sorted_count, added}, block->Members());
  if (sorted_count == 0) return;
  if (added * static_cast<size_t>(std::bit_width(sorted_count)) > sorted_count) {
    std::inplace_merge(order, order + sorted_count, order + block->size, by_name);
    return;
  }
  // Finds the places of a few names by binary search, from the last name to the first.
  const std::vector<uint32_t> numbers(order + sorted_count, order + block->size);
  size_t end = sorted_count;  // the sorted numbers before it still have to be moved
  for (size_t i = added; i-- > 0;) {
    const auto place = static_cast<size_t>(std::upper_bound(order, order + end, numbers[i], by_name) - order);
    std::memmove(order + place + i + 1, order + place, (end - place) * sizeof(uint32_t));
    order[place + i] = numbers[i];
    end = place;
  }
}

JsonValue JsonValue::ObjectOf(std::span<JsonValue> pairs) {
  JsonValue object = EmptyObject();
  const size_t count = pairs.size() / 2;
  if (count <= kMaxUnsorted) {
    if (count != 0) object.Reserve(count);
    size_t place = 0;
    for (size_t i = 0; i < count; ++i) {
      JsonMember* member = object.FindMember(pairs[2 * i].AsString(), place);
      if (member != nullptr) member->value = std::move(pairs[2 * i + 1]);
      if (member == nullptr) object.AppendMember(std::move(pairs[2 * i]), std::move(pairs[2 * i + 1]), place);
    }
    return object;
  }
  // Finds names that occur several times by sorting, so that a large object takes O(n log n).
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  static_assert(sizeof(JsonMember) == 2 * sizeof(JsonValue));
  SortByName(order, reinterpret_cast<const JsonMember*>(pairs.data()));
  std::vector<uint32_t> by_name;  // `order` without the names that occurred before
  std::vector<bool> is_repeated(count);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t number = order[i];
    if (!by_name.empty() && pairs[2 * by_name.back()].AsString() == pairs[2 * number].AsString()) {
      pairs[2 * by_name.back() + 1] = std::move(pairs[2 * number + 1]);
      is_repeated[number] = true;
    } else {
      by_name.push_back(number);
    }
  }
  object.Reserve(by_name.size());
  Block* block = object.GetBlock();
  std::vector<uint32_t>& place_of = order;
  for (size_t i = 0; i < count; ++i) {
    if (is_repeated[i]) continue;
    place_of[i] = block->size;
    new (block->Members() + block->size++) JsonMember{std::move(pairs[2 * i]), std::move(pairs[2 * i + 1])};
  }
  if (block->IsSorted()) {
    std::ranges::transform(by_name, block->Order(), [&](uint32_t number) { return place_of[number]; });
  }
  return object;
}

void JsonValue::Truncate(size_t size) {
  GetBlock()->size = static_cast<uint32_t>(size);
  FitToSize();
  Pack();
  if (Tag() == kObjectTag && GetBlock() != nullptr && GetBlock()->IsSorted()) SortNames();
}

}  // namespace respite
