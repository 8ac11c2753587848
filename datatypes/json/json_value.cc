#include "datatypes/json/json_value.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "base/out_of_memory.h"

namespace respite {

namespace {

constexpr size_t kJsonHeaderBytes = 8;  // of an array or an object: size and capacity
constexpr int kExponentShift = 59;      // position of the upper four bits of a double's exponent
constexpr uint64_t kMantissaMask = (uint64_t{1} << kExponentShift) - 1;
constexpr int64_t kIntegerLimit = int64_t{1} << 60;  // integers below it, and from its negative on, fit into 61 bits

size_t SizeBytes(size_t size) {
  size_t bytes = 1;
  for (; size >= 128; size >>= 7) ++bytes;
  return bytes;
}

char* NewJsonText(Bytes text) {
  const size_t size_bytes = SizeBytes(text.size());
  auto* block = static_cast<char*>(AllocateOrEnd(size_bytes + text.size()));
  size_t rest = text.size();
  for (size_t i = 0; i < size_bytes; ++i, rest >>= 7)
    block[i] = static_cast<char>((rest & 127) | (i + 1 < size_bytes ? 128 : 0));
  std::memcpy(block + size_bytes, text.data(), text.size());
  return block;
}

Bytes JsonTextOf(const char* block) {
  size_t size = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(*block++);
    size |= size_t{byte & 127u} << shift;
    if (byte < 128) return {block, size};
  }
}

}  // namespace

struct JsonValue::Large {  // a number that needs 64 bits, or a double with a large exponent
  JsonKind kind;
  uint64_t bits;
};

struct JsonValue::Block {  // the head of an array or an object; the items follow
  uint32_t size;
  uint32_t capacity;

  JsonValue* Elements() { return reinterpret_cast<JsonValue*>(this + 1); }
  JsonMember* Members() { return reinterpret_cast<JsonMember*>(this + 1); }
  bool IsSorted() const { return capacity > kMaxUnsorted; }  // true: an object that has Order()
  // The indexes of the members in Members(), sorted by the names of the members. Requires: IsSorted().
  uint32_t* Order() { return reinterpret_cast<uint32_t*>(Members() + capacity); }
  Bytes NameAt(size_t place) { return Members()[Order()[place]].name.AsString(); }
};

// ---------------------------------------------------------------------------------------------------------------------
// Scalars

JsonValue JsonValue::MakeLarge(Large large) {
  auto* memory = static_cast<Large*>(AllocateOrEnd(sizeof(Large)));
  *memory = large;
  return JsonValue(reinterpret_cast<uint64_t>(memory) | kLargeTag);
}

JsonValue JsonValue::Integer(int64_t value) {
  if (value >= -kIntegerLimit && value < kIntegerLimit) {
    return JsonValue(static_cast<uint64_t>(value) << kTagBits | kIntegerTag);
  }
  return MakeLarge({JsonKind::kInteger, static_cast<uint64_t>(value)});
}

JsonValue JsonValue::Unsigned(uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return Integer(static_cast<int64_t>(value));
  return MakeLarge({JsonKind::kUnsigned, value});
}

JsonValue JsonValue::Number(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  if (value == 0) return JsonValue(bits == 0 ? kZero : kNegativeZero);
  const uint64_t exponent = bits >> kExponentShift & 15;
  if (exponent != 7 && exponent != 8) return MakeLarge({JsonKind::kNumber, bits});
  const uint64_t head = (bits >> 63 << 1) | (exponent == 8 ? 1 : 0);
  return JsonValue(head << 62 | (bits & kMantissaMask) << kTagBits | kDoubleTag);
}

JsonValue JsonValue::String(Bytes text) {
  if (text.size() > kShortMax) return JsonValue(reinterpret_cast<uint64_t>(NewJsonText(text)) | kTextTag);
  uint64_t word = text.size() << kTagBits | kShortTag;
  std::memcpy(reinterpret_cast<char*>(&word) + 1, text.data(), text.size());
  return JsonValue(word);
}

JsonKind JsonValue::Kind() const {
  switch (Tag()) {
    case kIntegerTag:
      return JsonKind::kInteger;
    case kShortTag:
    case kTextTag:
      return JsonKind::kString;
    case kDoubleTag:
      return JsonKind::kNumber;
    case kLargeTag:
      return static_cast<Large*>(Pointer())->kind;
    case kArrayTag:
      return JsonKind::kArray;
    case kObjectTag:
      return JsonKind::kObject;
    default:
      return word_ == 0 ? JsonKind::kNull : word_ >= kZero ? JsonKind::kNumber : JsonKind::kBoolean;
  }
}

bool JsonValue::IsNumeric() const {
  const JsonKind kind = Kind();
  return kind == JsonKind::kInteger || kind == JsonKind::kUnsigned || kind == JsonKind::kNumber;
}

int64_t JsonValue::AsInteger() const {
  if (Tag() == kIntegerTag) return static_cast<int64_t>(word_) >> kTagBits;
  return static_cast<int64_t>(static_cast<Large*>(Pointer())->bits);
}

uint64_t JsonValue::AsUnsigned() const { return static_cast<uint64_t>(AsInteger()); }

double JsonValue::AsNumber() const {
  if (word_ == kZero) return 0.0;
  if (word_ == kNegativeZero) return -0.0;
  if (Tag() == kLargeTag) return std::bit_cast<double>(static_cast<Large*>(Pointer())->bits);
  const uint64_t exponent = (word_ >> 62 & 1) != 0 ? 8 : 7;
  return std::bit_cast<double>(word_ >> 63 << 63 | exponent << kExponentShift | (word_ >> kTagBits & kMantissaMask));
}

double JsonValue::ToDouble() const {
  switch (Kind()) {
    case JsonKind::kInteger:
      return static_cast<double>(AsInteger());
    case JsonKind::kUnsigned:
      return static_cast<double>(AsUnsigned());
    default:
      return AsNumber();
  }
}

Bytes JsonValue::AsString() const {
  if (Tag() == kTextTag) return JsonTextOf(static_cast<const char*>(Pointer()));
  return {reinterpret_cast<const char*>(&word_) + 1, static_cast<size_t>(word_ >> kTagBits & 7)};
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

void JsonValue::Free() {
  const uint64_t tag = Tag();
  if (tag == kArrayTag) {
    for (JsonValue& element : Elements()) element.~JsonValue();
  } else if (tag == kObjectTag) {
    for (JsonMember& member : Members()) member.~JsonMember();
  }
  std::free(Pointer());
  word_ = 0;
}

void JsonValue::Reserve(size_t size) {
  const bool is_object = Tag() == kObjectTag;
  Block* block = GetBlock();
  const size_t old_capacity = block == nullptr ? 0 : block->capacity;
  if (size <= old_capacity) return;
  // A container that grows gets spare room of an eighth.
  size_t capacity = block == nullptr ? size : std::max(size, old_capacity + old_capacity / 8 + 1);
  const size_t item_bytes = is_object ? sizeof(JsonMember) : sizeof(JsonValue);
  if (is_object && capacity > kMaxUnsorted) {
    capacity = std::max(capacity, kMaxUnsorted + 1);
    const size_t bytes = kJsonHeaderBytes + capacity * (item_bytes + sizeof(uint32_t));
    // Copies the sorted index of the members (Order) to a vector. The index is after the members in memory, so it must
    // move when the capacity changes.
    std::vector<uint32_t> order;
    if (block != nullptr && block->IsSorted()) order.assign(block->Order(), block->Order() + block->size);
    const bool has_order = block != nullptr && block->IsSorted();
    const uint32_t used = block == nullptr ? 0 : block->size;
    block = static_cast<Block*>(ReallocateOrEnd(block, bytes));
    *block = {used, static_cast<uint32_t>(capacity)};
    SetBlock(block);
    if (has_order) std::copy(order.begin(), order.end(), block->Order());
    if (!has_order) SortNames();
    return;
  }
  const uint32_t used = block == nullptr ? 0 : block->size;
  block = static_cast<Block*>(ReallocateOrEnd(block, kJsonHeaderBytes + capacity * item_bytes));
  // The capacity includes the memory that the allocator has reserved beyond the requested size.
  capacity = (malloc_usable_size(block) - kJsonHeaderBytes) / item_bytes;
  if (is_object) capacity = std::min(capacity, kMaxUnsorted);
  *block = {used, static_cast<uint32_t>(std::min<size_t>(capacity, std::numeric_limits<uint32_t>::max()))};
  SetBlock(block);
}

void JsonValue::FitToSize() {
  Block* block = GetBlock();
  if (block == nullptr) return;
  if (block->size == 0) {
    std::free(block);
    word_ = Tag();
    return;
  }
  if (block->size > block->capacity / 2 || block->capacity < 8) return;
  if (Tag() == kArrayTag) {
    JsonValue smaller(kArrayTag);
    smaller.Reserve(block->size);
    std::memcpy(static_cast<void*>(smaller.GetBlock()->Elements()), static_cast<const void*>(block->Elements()),
                block->size * sizeof(JsonValue));
    smaller.GetBlock()->size = block->size;
    std::free(block);
    word_ = std::exchange(smaller.word_, 0);
    return;
  }
  JsonValue smaller(kObjectTag);
  smaller.Reserve(block->size);
  std::memcpy(static_cast<void*>(smaller.GetBlock()->Members()), static_cast<const void*>(block->Members()),
              block->size * sizeof(JsonMember));
  smaller.GetBlock()->size = block->size;
  std::free(block);
  word_ = std::exchange(smaller.word_, 0);
  if (GetBlock()->IsSorted()) SortNames();
}

JsonValue JsonValue::Clone() const {
  if (!OwnsMemory()) return JsonValue(word_);
  switch (Tag()) {
    case kLargeTag:
      return MakeLarge(*static_cast<Large*>(Pointer()));
    case kTextTag:
      return String(AsString());
    case kArrayTag: {
      JsonValue copy(kArrayTag);
      copy.Reserve(Size());
      for (const JsonValue& element : Elements()) {
        new (copy.GetBlock()->Elements() + copy.GetBlock()->size++) JsonValue(element.Clone());
      }
      return copy;
    }
    default: {
      JsonValue copy(kObjectTag);
      copy.Reserve(Size());
      for (const JsonMember& member : Members()) {
        new (copy.GetBlock()->Members() + copy.GetBlock()->size++)
            JsonMember{member.name.Clone(), member.value.Clone()};
      }
      if (copy.GetBlock()->IsSorted()) copy.SortNames();
      return copy;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Arrays

size_t JsonValue::Size() const { return GetBlock() == nullptr ? 0 : GetBlock()->size; }

std::span<JsonValue> JsonValue::Elements() {
  if (GetBlock() == nullptr) return {};
  return {GetBlock()->Elements(), GetBlock()->size};
}

std::span<const JsonValue> JsonValue::Elements() const { return const_cast<JsonValue*>(this)->Elements(); }

JsonValue JsonValue::ArrayOf(std::span<JsonValue> elements) {
  JsonValue array = EmptyArray();
  if (!elements.empty()) array.Insert(0, elements);
  return array;
}

void JsonValue::Insert(size_t at, std::span<JsonValue> values) {
  if (values.empty()) return;
  Reserve(Size() + values.size());
  Block* block = GetBlock();
  JsonValue* place = block->Elements() + at;
  // Values own memory but do not refer to themselves, so they may be moved as bytes.
  std::memmove(static_cast<void*>(place + values.size()), static_cast<const void*>(place),
               (block->size - at) * sizeof(JsonValue));
  for (JsonValue& value : values) new (place++) JsonValue(std::move(value));
  block->size += static_cast<uint32_t>(values.size());
}

void JsonValue::EraseRange(size_t first, size_t count) {
  if (count == 0) return;
  Block* block = GetBlock();
  JsonValue* place = block->Elements() + first;
  for (size_t i = 0; i < count; ++i) place[i].~JsonValue();
  std::memmove(static_cast<void*>(place), static_cast<const void*>(place + count),
               (block->size - first - count) * sizeof(JsonValue));
  block->size -= static_cast<uint32_t>(count);
  FitToSize();
}

// ---------------------------------------------------------------------------------------------------------------------
// Objects

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
  std::sort(order + sorted_count, order + block->size, by_name);
  std::inplace_merge(order, order + sorted_count, order + block->size, by_name);
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
  std::sort(order.begin(), order.end(), [&](uint32_t one, uint32_t other) {
    const int compared = pairs[2 * one].AsString().compare(pairs[2 * other].AsString());
    return compared != 0 ? compared < 0 : one < other;
  });
  size_t distinct = count;
  std::vector<bool> is_repeated(count);
  for (size_t i = 0; i + 1 < count; ++i) {
    size_t first = i;
    while (i + 1 < count && pairs[2 * order[first]].AsString() == pairs[2 * order[i + 1]].AsString()) {
      pairs[2 * order[first] + 1] = std::move(pairs[2 * order[++i] + 1]);
      is_repeated[order[i]] = true;
      --distinct;
    }
  }
  object.Reserve(distinct);
  Block* block = object.GetBlock();
  for (size_t i = 0; i < count; ++i) {
    if (is_repeated[i]) continue;
    new (block->Members() + block->size++) JsonMember{std::move(pairs[2 * i]), std::move(pairs[2 * i + 1])};
  }
  if (block->IsSorted()) object.SortNames();
  return object;
}

void JsonValue::Truncate(size_t size) {
  GetBlock()->size = static_cast<uint32_t>(size);
  FitToSize();
  if (Tag() == kObjectTag && GetBlock() != nullptr && GetBlock()->IsSorted()) SortNames();
}

// ---------------------------------------------------------------------------------------------------------------------
// Measures

size_t JsonValue::Depth() const {
  size_t depth = 0;
  if (!IsContainer()) return 0;
  if (Tag() == kArrayTag) {
    for (const JsonValue& element : Elements()) depth = std::max(depth, element.Depth());
  } else {
    for (const JsonMember& member : Members()) depth = std::max(depth, member.value.Depth());
  }
  return depth + 1;
}

size_t JsonValue::CountValues(size_t max) const {
  size_t count = 1;
  if (!IsContainer()) return count;
  const bool is_array = Tag() == kArrayTag;
  for (size_t i = 0; i < Size() && count < max; ++i) {
    count += (is_array ? Elements()[i] : Members()[i].value).CountValues(max - count);
  }
  return count;
}

size_t JsonValue::UsedBytes(size_t samples) const {
  if (samples != 0) {
    constexpr size_t kVisitsPerSample = 100;
    constexpr size_t kMaxSamples = 1U << 31;
    constexpr double kMaxEstimate = 0x1p62;
    samples = std::min(samples, kMaxSamples);
    return static_cast<size_t>(std::min(EstimateBytes({samples, samples * kVisitsPerSample}), kMaxEstimate));
  }
  if (!OwnsMemory()) return 0;
  size_t used = malloc_usable_size(Pointer());
  if (Tag() == kArrayTag) {
    for (const JsonValue& element : Elements()) used += element.UsedBytes(0);
  } else if (Tag() == kObjectTag) {
    for (const JsonMember& member : Members()) used += member.name.UsedBytes(0) + member.value.UsedBytes(0);
  }
  return used;
}

// Returns an estimate of UsedBytes(samples). If a container has many elements, only some of them are measured, and the
// result is multiplied accordingly. Only the outermost such container multiplies. If the containers inside it
// multiplied too, a document whose first elements are large would get a much too large estimate.
double JsonValue::EstimateBytes(const Sampling& sampling) const {
  if (!OwnsMemory()) return 0;
  const auto own = static_cast<double>(malloc_usable_size(Pointer()));
  if (!IsContainer()) return own;
  // Measures all elements, and not only a sample, if max_visits allows at least this many visits for each element.
  constexpr size_t kVisitsPerElement = 8;
  const size_t size = Size();
  const bool is_whole = size <= sampling.max_visits / kVisitsPerElement;
  const size_t measured = is_whole ? size : std::min({size, sampling.max_samples, sampling.max_visits});
  if (measured == 0) return own;
  Sampling inner = sampling;
  inner.max_visits = (sampling.max_visits - measured) / measured;
  inner.is_extrapolated = sampling.is_extrapolated || measured < size;
  double inside = 0;
  for (size_t i = 0; i < measured; ++i) {
    const size_t place = i * size / measured;  // spread evenly
    if (Tag() == kArrayTag) {
      inside += Elements()[place].EstimateBytes(inner);
    } else {
      inside += static_cast<double>(Members()[place].name.UsedBytes(0)) + Members()[place].value.EstimateBytes(inner);
    }
  }
  if (sampling.is_extrapolated) return own + inside;
  return own + inside * static_cast<double>(size) / static_cast<double>(measured);
}

bool JsonValue::IsConsistent() const {
  if (!IsContainer() || GetBlock() == nullptr) return true;
  Block* block = GetBlock();
  if (block->size == 0 || block->size > block->capacity) return false;
  if (Tag() == kArrayTag) return std::ranges::all_of(Elements(), &JsonValue::IsConsistent);
  for (const JsonMember& member : Members()) {
    if (!member.name.Is(JsonKind::kString) || !member.value.IsConsistent()) return false;
    if (Find(member.name.AsString()) != &member.value) return false;
  }
  if (!block->IsSorted()) return true;
  for (size_t i = 1; i < block->size; ++i) {
    if (block->NameAt(i - 1) >= block->NameAt(i)) return false;
  }
  return true;
}

}  // namespace respite
