// The memory of JSON values, and the elements of arrays.
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/out_of_memory.h"
#include "datatypes/json/json_block.h"
#include "datatypes/json/json_value.h"

namespace respite {

namespace {

constexpr size_t kJsonHeaderBytes = 8;  // of an array or an object: size and capacity

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Memory

void JsonValue::Free() {
  const uint64_t tag = Tag();
  if (tag == kArrayTag) {
    for (JsonValue& element : ElementsToChange()) element.~JsonValue();
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
  if (smaller.GetBlock()->IsSorted()) std::copy_n(block->Order(), block->size, smaller.GetBlock()->Order());
  std::free(block);
  word_ = std::exchange(smaller.word_, 0);
}

JsonValue JsonValue::Clone() const {
  if (!OwnsMemory()) return JsonValue(word_);
  switch (Tag()) {
    case kLargeTag: {
      if (!IsPacked()) return MakeLarge(*static_cast<Large*>(Pointer()));
      const size_t bytes = sizeof(JsonPacked) + Size() * Packed()->Width();
      void* copy = AllocateOrEnd(bytes);
      std::memcpy(copy, Pointer(), bytes);
      return JsonValue(reinterpret_cast<uint64_t>(copy) | kLargeTag);
    }
    case kTextTag:
      return String(AsString());
    case kArrayTag: {
      JsonValue copy(kArrayTag);
      copy.Reserve(Size());
      for (const JsonValue& element : std::span(GetBlock()->Elements(), Size())) {
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
      if (copy.GetBlock()->IsSorted()) std::copy_n(GetBlock()->Order(), Size(), copy.GetBlock()->Order());
      return copy;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Arrays

size_t JsonValue::Size() const {
  if (IsPacked()) return Packed()->size;
  return GetBlock() == nullptr ? 0 : GetBlock()->size;
}

JsonElements JsonValue::Elements() const {
  if (IsPacked()) return {nullptr, Packed(), Packed()->size};
  Block* block = GetBlock();
  return block == nullptr ? JsonElements(nullptr, nullptr, 0) : JsonElements(block->Elements(), nullptr, block->size);
}

JsonElement JsonElements::operator[](size_t i) const {
  return plain_ != nullptr ? JsonElement(&plain_[i]) : JsonElement(packed_->At(i));
}

std::span<JsonValue> JsonValue::ElementsToChange() {
  Unpack();
  if (GetBlock() == nullptr) return {};
  return {GetBlock()->Elements(), GetBlock()->size};
}

JsonValue JsonValue::ArrayOf(std::span<JsonValue> elements) {
  JsonValue array = EmptyArray();
  array.Insert(0, elements);
  return array;
}

void JsonValue::Pack() {
  if (Tag() != kArrayTag || GetBlock() == nullptr) return;
  JsonPacked* packed = PackJsonNumbers({GetBlock()->Elements(), GetBlock()->size});
  if (packed != nullptr) *this = JsonValue(reinterpret_cast<uint64_t>(packed) | kLargeTag);
}

void JsonValue::Unpack() {
  if (!IsPacked()) return;
  JsonValue plain(kArrayTag);
  plain.Reserve(Size());
  Block* block = plain.GetBlock();
  for (; block->size < Size(); ++block->size)
    new (block->Elements() + block->size) JsonValue(Packed()->At(block->size));
  *this = std::move(plain);
}

void JsonValue::InsertPacked(size_t at, std::span<const JsonValue> values) {
  const size_t old_size = Size();
  const size_t size = old_size + values.size();
  const size_t bytes = sizeof(JsonPacked) + size * Packed()->Width();
  JsonPacked* packed = Packed();
  if (bytes > malloc_usable_size(packed)) {  // gets spare room of an eighth, as Reserve
    packed = static_cast<JsonPacked*>(ReallocateOrEnd(packed, bytes + bytes / 8));
    word_ = reinterpret_cast<uint64_t>(packed) | kLargeTag;
  }
  std::memmove(packed->Place(at + values.size()), packed->Place(at), (old_size - at) * packed->Width());
  for (size_t i = 0; i < values.size(); ++i) packed->Put(at + i, values[i]);
  packed->size = static_cast<uint32_t>(size);
}

void JsonValue::Insert(size_t at, std::span<JsonValue> values) {
  if (values.empty()) return;
  if (IsPacked()) {
    if (std::ranges::all_of(values, [&](const JsonValue& value) { return Packed()->Fits(value); })) {
      return InsertPacked(at, values);
    }
    Unpack();
  } else if (GetBlock() == nullptr) {
    if (JsonPacked* packed = PackJsonNumbers(values)) {
      *this = JsonValue(reinterpret_cast<uint64_t>(packed) | kLargeTag);
      return;
    }
  }
  const bool is_old_block_full = GetBlock() != nullptr && Size() + values.size() > GetBlock()->capacity;
  Reserve(Size() + values.size());
  Block* block = GetBlock();
  JsonValue* place = block->Elements() + at;
  // Values own memory but do not refer to themselves, so they may be moved as bytes.
  std::memmove(static_cast<void*>(place + values.size()), static_cast<const void*>(place),
               (block->size - at) * sizeof(JsonValue));
  for (JsonValue& value : values) new (place++) JsonValue(std::move(value));
  block->size += static_cast<uint32_t>(values.size());
  if (is_old_block_full) Pack();  // only then, so that the cost of many insertions is proportional
}

void JsonValue::ErasePacked(size_t first, size_t count) {
  JsonPacked* packed = Packed();
  const size_t size = packed->size - count;
  if (size == 0) {
    *this = EmptyArray();
    return;
  }
  std::memmove(packed->Place(first), packed->Place(first + count), (size - first) * packed->Width());
  packed->size = static_cast<uint32_t>(size);
  const size_t bytes = sizeof(JsonPacked) + size * packed->Width();
  if (bytes > malloc_usable_size(packed) / 2) return;
  word_ = reinterpret_cast<uint64_t>(ReallocateOrEnd(packed, bytes)) | kLargeTag;
}

void JsonValue::EraseRange(size_t first, size_t count) {
  if (count == 0) return;
  if (IsPacked()) return ErasePacked(first, count);
  Block* block = GetBlock();
  JsonValue* place = block->Elements() + first;
  for (size_t i = 0; i < count; ++i) place[i].~JsonValue();
  std::memmove(static_cast<void*>(place), static_cast<const void*>(place + count),
               (block->size - first - count) * sizeof(JsonValue));
  block->size -= static_cast<uint32_t>(count);
  FitToSize();
}

}  // namespace respite
