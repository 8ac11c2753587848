#include "datatypes/json/json_value.h"

#include <cstring>
#include <limits>

#include "base/out_of_memory.h"

namespace respite {

namespace {

constexpr int kExponentShift = 59;  // position of the upper four bits of a double's exponent
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
  if (!text.empty()) std::memcpy(reinterpret_cast<char*>(&word) + 1, text.data(), text.size());
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

}  // namespace respite
