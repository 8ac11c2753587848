// Depth, number of values, and memory of a JsonValue.
#include <malloc.h>

#include <algorithm>

#include "datatypes/json/json_block.h"
#include "datatypes/json/json_value.h"

namespace respite {

size_t JsonValue::Depth() const {
  size_t depth = 0;
  if (!IsContainer()) return 0;
  if (IsPacked()) return 1;
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
  if (IsPacked()) return count + Size();
  const bool is_array = Tag() == kArrayTag;
  for (size_t i = 0; i < Size() && count < max; ++i) {
    count += (is_array ? GetBlock()->Elements()[i] : Members()[i].value).CountValues(max - count);
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
  if (!IsContainer() || IsPacked()) return own;
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
      inside += GetBlock()->Elements()[place].EstimateBytes(inner);
    } else {
      inside += static_cast<double>(Members()[place].name.UsedBytes(0)) + Members()[place].value.EstimateBytes(inner);
    }
  }
  if (sampling.is_extrapolated) return own + inside;
  return own + inside * static_cast<double>(size) / static_cast<double>(measured);
}

bool JsonValue::IsConsistent() const {
  if (IsPacked()) return Size() > 0 && sizeof(JsonPacked) + Size() * Packed()->Width() <= malloc_usable_size(Packed());
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
