#include "datatypes/intset.h"

#include <limits>

#include "base/byte_order.h"

namespace respite {

namespace {

template <class Number>
bool Fits(int64_t value) {
  return value >= std::numeric_limits<Number>::min() && value <= std::numeric_limits<Number>::max();
}

int64_t LoadValue(const char* from, size_t width) {
  if (width == sizeof(int16_t)) return LoadLittle<int16_t>(from);
  if (width == sizeof(int32_t)) return LoadLittle<int32_t>(from);
  return LoadLittle<int64_t>(from);
}

void StoreValue(char* to, size_t width, int64_t value) {
  if (width == sizeof(int16_t)) return StoreLittle<int16_t>(to, static_cast<int16_t>(value));
  if (width == sizeof(int32_t)) return StoreLittle<int32_t>(to, static_cast<int32_t>(value));
  StoreLittle<int64_t>(to, value);
}

void StoreHeader(PackedStore& store, size_t width, size_t count) {
  StoreLittle<uint32_t>(store.Data(), static_cast<uint32_t>(width));
  StoreLittle<uint32_t>(store.Data() + sizeof(uint32_t), static_cast<uint32_t>(count));
}

char* PlaceOf(PackedStore& store, size_t width, size_t index) { return store.Data() + Intset::kHeader + index * width; }

// Makes every value of the intset `width` bytes wide, then adds `value`. Requires: `value` needs this width, so `value`
// is below or above all other values.
void Widen(PackedStore& store, size_t width, int64_t value) {
  const size_t count = Intset(store.View()).Count();
  const size_t old_width = Intset(store.View()).Width();
  store.Splice(store.Size(), 0, (count + 1) * width - count * old_width);
  const size_t shift = value < 0 ? 1 : 0;
  for (size_t i = count; i-- > 0;)  // backward, so that nothing is overwritten before it is read
    StoreValue(PlaceOf(store, width, i + shift), width, LoadValue(PlaceOf(store, old_width, i), old_width));
  StoreValue(PlaceOf(store, width, value < 0 ? 0 : count), width, value);
  StoreHeader(store, width, count + 1);
}

}  // namespace

size_t Intset::Width() const { return LoadLittle<uint32_t>(bytes_.data()); }

size_t Intset::Count() const { return LoadLittle<uint32_t>(bytes_.data() + sizeof(uint32_t)); }

int64_t Intset::At(size_t index) const { return LoadValue(bytes_.data() + kHeader + index * Width(), Width()); }

size_t Intset::LowerBound(int64_t value) const {
  const size_t width = Width();
  const char* const values = bytes_.data() + kHeader;
  size_t first = 0;
  for (size_t left = Count(); left > 0;) {
    const size_t half = left / 2;
    const bool below = LoadValue(values + (first + half) * width, width) < value;
    first = below ? first + half + 1 : first;
    left = below ? left - half - 1 : half;
  }
  return first;
}

bool Intset::Contains(int64_t value) const {
  if (WidthOf(value) > Width()) return false;
  const size_t at = LowerBound(value);
  return at < Count() && At(at) == value;
}

size_t Intset::WidthOf(int64_t value) {
  return Fits<int16_t>(value) ? sizeof(int16_t) : Fits<int32_t>(value) ? sizeof(int32_t) : sizeof(int64_t);
}

bool Intset::IsWellFormed(Bytes bytes) {
  if (bytes.size() < kHeader) return false;
  const Intset intset(bytes);
  const size_t width = intset.Width();
  if (width != sizeof(int16_t) && width != sizeof(int32_t) && width != sizeof(int64_t)) return false;
  if (bytes.size() != kHeader + intset.Count() * width) return false;
  for (size_t i = 1; i < intset.Count(); ++i)
    if (intset.At(i - 1) >= intset.At(i)) return false;
  return true;
}

bool AddToIntset(PackedStore& store, int64_t value) {
  const Intset intset(store.View());
  const size_t width = intset.Width();
  const size_t needed = Intset::WidthOf(value);
  if (needed > width) {
    Widen(store, needed, value);
    return true;
  }
  const size_t count = intset.Count();
  const bool last = count == 0 || intset.At(count - 1) < value;  // values are often added in order
  const size_t at = last ? count : intset.LowerBound(value);
  if (!last && intset.At(at) == value) return false;
  StoreValue(store.Splice(Intset::kHeader + at * width, 0, width), width, value);
  StoreHeader(store, width, count + 1);
  return true;
}

bool RemoveFromIntset(PackedStore& store, int64_t value) {
  const Intset intset(store.View());
  if (!intset.Contains(value)) return false;
  RemoveFromIntsetAt(store, intset.LowerBound(value));
  return true;
}

void RemoveFromIntsetAt(PackedStore& store, size_t index) {
  const Intset intset(store.View());
  const size_t width = intset.Width();
  const size_t count = intset.Count();
  store.Splice(Intset::kHeader + index * width, width, 0);
  StoreHeader(store, width, count - 1);
}

}  // namespace respite
