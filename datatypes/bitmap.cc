#include "datatypes/bitmap.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/byte_order.h"

namespace respite {

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Counting set bits. Four independent sums keep the processor's counting unit busy.

template <class CountWord>
[[gnu::always_inline]] inline uint64_t CountWith(Bytes bitmap, CountWord count_word) {
  constexpr size_t kWord = sizeof(uint64_t);
  uint64_t sum0 = 0;
  uint64_t sum1 = 0;
  uint64_t sum2 = 0;
  uint64_t sum3 = 0;
  const char* at = bitmap.data();
  size_t left = bitmap.size();
  for (; left >= 4 * kWord; at += 4 * kWord, left -= 4 * kWord) {
    sum0 += count_word(LoadLittle<uint64_t>(at));
    sum1 += count_word(LoadLittle<uint64_t>(at + kWord));
    sum2 += count_word(LoadLittle<uint64_t>(at + 2 * kWord));
    sum3 += count_word(LoadLittle<uint64_t>(at + 3 * kWord));
  }
  for (; left >= kWord; at += kWord, left -= kWord) sum0 += count_word(LoadLittle<uint64_t>(at));
  return sum0 + sum1 + sum2 + sum3 + count_word(LoadLittle(at, left));
}

#if defined(__x86_64__)
__attribute__((target("popcnt"))) uint64_t CountByInstruction(Bytes bitmap) {
  // __builtin_popcountll becomes one popcnt instruction here. std::popcount would be compiled for processors without
  // this instruction, before it is inlined here.
  return CountWith(
      bitmap,
      [](uint64_t word) __attribute__((always_inline)) { return static_cast<uint64_t>(__builtin_popcountll(word)); });
}

// Counts set bits without the popcnt instruction: in each pair of bits, then in each group of four, then in each byte
// of a word. The multiplication adds up the counts of the bytes.
uint64_t CountByArithmetic(Bytes bitmap) {
  return CountWith(bitmap, [](uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (word * 0x0101010101010101u) >> 56;
  });
}
#endif

// Skips 8-byte words that equal `same`, from byte offset `at` on. Returns the offset of the first different word. If
// there is none, returns the offset at which less than one word is left before `end`.
size_t SkipBytes(Bytes bitmap, size_t at, size_t end, uint64_t same) {
  constexpr size_t kWord = sizeof(uint64_t);
  const char* text = bitmap.data();
  const auto differs = [&](size_t from) { return LoadLittle<uint64_t>(text + from) ^ same; };
  while (at + 4 * kWord <= end &&
         (differs(at) | differs(at + kWord) | differs(at + 2 * kWord) | differs(at + 3 * kWord)) == 0)
    at += 4 * kWord;
  while (at + kWord <= end && differs(at) == 0) at += kWord;
  return at;
}

// ---------------------------------------------------------------------------------------------------------------------
// Combining bitmaps, for BITOP. Processes 16 bytes at a time, because all x86-64 and 64-bit ARM processors have
// registers of this size. Wider registers would not help, because memory is slower anyway.

typedef uint64_t Lane __attribute__((vector_size(16)));

template <class Function>
void Combine(char* into, Bytes source, Function function) {
  size_t at = 0;
  for (; at + sizeof(Lane) <= source.size(); at += sizeof(Lane)) {
    Lane a;
    Lane b;
    std::memcpy(&a, into + at, sizeof a);
    std::memcpy(&b, source.data() + at, sizeof b);
    a = function(a, b);
    std::memcpy(into + at, &a, sizeof a);
  }
  for (; at < source.size(); ++at) into[at] = static_cast<char>(function(into[at], source[at]));
}

Bytes PartFrom(Bytes text, size_t begin, size_t size) {
  return begin < text.size() ? text.substr(begin, size) : Bytes();
}

constexpr size_t kPart = 4096;  // stays in the L1 cache while every source is applied to it

// One part of the result of CombineBits, of at most kPart bytes. Each function combines this part with the bytes of one
// source at the same place. If the source ends before the part does, the missing bits count as clear.
class ResultPart {
 public:
  explicit ResultPart(size_t size) : size_(size) {}

  Bytes View() const { return {bytes_.data(), size_}; }
  void Clear() { std::memset(bytes_.data(), 0, size_); }
  void Load(Bytes source) {
    if (!source.empty()) std::memcpy(bytes_.data(), source.data(), source.size());
    ClearFrom(source.size());
  }
  void And(Bytes source) {
    Combine(bytes_.data(), source, [](auto a, auto b) { return a & b; });
    ClearFrom(source.size());
  }
  // Replaces this part by the bits of the source that were not set in this part.
  void SubtractFrom(Bytes source) {
    Combine(bytes_.data(), source, [](auto a, auto b) { return b & ~a; });
    ClearFrom(source.size());
  }
  void AndNot(Bytes source) {
    Combine(bytes_.data(), source, [](auto a, auto b) { return a & ~b; });
  }
  void Or(Bytes source) {
    Combine(bytes_.data(), source, [](auto a, auto b) { return a | b; });
  }
  void Xor(Bytes source) {
    Combine(bytes_.data(), source, [](auto a, auto b) { return a ^ b; });
  }
  void Not() {
    Combine(bytes_.data(), View(), [](auto a, auto) { return ~a; });
  }

 private:
  void ClearFrom(size_t begin) { std::memset(bytes_.data() + begin, 0, size_ - begin); }

  std::array<char, kPart> bytes_;
  size_t size_;
};

// Gives access to one range of bytes in each source of CombineBits.
class SourceParts {
 public:
  SourceParts(std::span<const Bytes> sources, size_t at, size_t size) : sources_(sources), at_(at), size_(size) {}

  Bytes First() const { return PartFrom(sources_[0], at_, size_); }
  template <class Visit>
  void ForOthers(Visit&& visit) const {
    for (Bytes source : sources_.subspan(1)) visit(PartFrom(source, at_, size_));
  }

 private:
  std::span<const Bytes> sources_;
  size_t at_;
  size_t size_;
};

// BITOP ONE: sets `part` to the bits that are set in exactly one source.
void CombineOnes(ResultPart& part, const SourceParts& sources) {
  ResultPart several(part.View().size());
  ResultPart both(part.View().size());
  several.Clear();
  part.Load(sources.First());
  sources.ForOthers([&](Bytes source) {
    both.Load(source);
    both.And(part.View());
    several.Or(both.View());
    part.Or(source);
  });
  part.AndNot(several.View());
}

void CombinePart(BitOperation operation, ResultPart& part, const SourceParts& sources) {
  if (operation == BitOperation::kOne) return CombineOnes(part, sources);
  if (operation >= BitOperation::kDiff) {
    part.Clear();
    sources.ForOthers([&part](Bytes source) { part.Or(source); });
  } else {
    part.Load(sources.First());
  }
  switch (operation) {
    case BitOperation::kAnd:
      return sources.ForOthers([&part](Bytes source) { part.And(source); });
    case BitOperation::kOr:
      return sources.ForOthers([&part](Bytes source) { part.Or(source); });
    case BitOperation::kXor:
      return sources.ForOthers([&part](Bytes source) { part.Xor(source); });
    case BitOperation::kNot:
      return part.Not();
    case BitOperation::kDiff:
      return part.SubtractFrom(sources.First());
    case BitOperation::kDiff1:
      return part.AndNot(sources.First());
    case BitOperation::kAndOr:
      return part.And(sources.First());
    case BitOperation::kOne:
      return;  // handled at the top
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Fields

uint64_t MaskOf(int bits) { return ~uint64_t{0} >> (64 - bits); }

int64_t Extended(const BitField& field, uint64_t value) {
  value &= MaskOf(field.bits);
  const uint64_t top = uint64_t{1} << (field.bits - 1);
  if (field.sign == FieldSign::kSigned && (value & top) != 0) value |= ~MaskOf(field.bits);
  return static_cast<int64_t>(value);
}

enum class Excess : uint8_t { kTooLow, kTooHigh };

std::optional<int64_t> Resolve(const BitField& field, uint64_t value, Excess excess, FieldOverflow overflow) {
  if (overflow == FieldOverflow::kFail) return std::nullopt;
  if (overflow == FieldOverflow::kWrap) return Extended(field, value);
  return excess == Excess::kTooHigh ? field.Max() : field.Min();
}

}  // namespace

Bit BitAt(Bytes bitmap, uint64_t at) {
  if (at / 8 >= bitmap.size()) return Bit::kClear;
  return (ByteAt(bitmap, at / 8) >> (7 - at % 8) & 1) != 0 ? Bit::kSet : Bit::kClear;
}

void PutBit(char* bitmap, uint64_t at, Bit bit) {
  const int mask = 1 << (7 - at % 8);
  const int byte = bitmap[at / 8];
  bitmap[at / 8] = static_cast<char>(bit == Bit::kSet ? byte | mask : byte & ~mask);
}

uint64_t CountSetBits(Bytes bitmap) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("popcnt") ? CountByInstruction(bitmap) : CountByArithmetic(bitmap);
#else
  return CountWith(bitmap, [](uint64_t word) { return static_cast<uint64_t>(std::popcount(word)); });
#endif
}

uint64_t CountSetBits(Bytes bitmap, BitRange range) {
  const size_t first = range.first / 8;
  const size_t last = range.last / 8;
  const int before = ByteAt(bitmap, first) >> (8 - range.first % 8);
  const int behind = ByteAt(bitmap, last) & ((1 << (7 - range.last % 8)) - 1);
  return CountSetBits(bitmap.substr(first, last - first + 1)) -
         static_cast<uint64_t>(std::popcount(static_cast<unsigned>(before))) -
         static_cast<uint64_t>(std::popcount(static_cast<unsigned>(behind)));
}

std::optional<uint64_t> FindBit(Bytes bitmap, BitRange range, Bit wanted) {
  const uint64_t flip = wanted == Bit::kSet ? 0 : ~uint64_t{0};
  const size_t end = range.last / 8 + 1;
  size_t at = range.first / 8;
  // A set bit in `byte` marks a bit of the bitmap that has the wanted value.
  auto byte = static_cast<uint8_t>((ByteAt(bitmap, at) ^ flip) & (0xffu >> range.first % 8));
  if (byte == 0) {
    at = SkipBytes(bitmap, at + 1, end, flip);
    while (at < end && (byte = static_cast<uint8_t>(ByteAt(bitmap, at) ^ flip)) == 0) ++at;
  }
  if (byte == 0) return std::nullopt;
  const uint64_t found = at * 8 + static_cast<uint64_t>(std::countl_zero(byte));
  return found <= range.last ? std::optional(found) : std::nullopt;
}

void CombineBits(BitOperation operation, std::span<const Bytes> sources, std::span<char> result) {
  for (size_t at = 0; at < result.size(); at += kPart) {
    const size_t size = std::min(kPart, result.size() - at);
    ResultPart part(size);
    CombinePart(operation, part, SourceParts(sources, at, size));
    std::memcpy(result.data() + at, part.View().data(), size);
  }
}

int64_t BitField::Max() const {
  return static_cast<int64_t>(MaskOf(sign == FieldSign::kSigned ? bits : bits + 1) >> 1);
}
int64_t BitField::Min() const { return sign == FieldSign::kSigned ? -Max() - 1 : 0; }

int64_t ReadField(Bytes bitmap, const BitField& field) {
  const Bytes text = PartFrom(bitmap, field.offset / 8, 9);  // 64 bits, and up to 7 that may precede them
  const int skipped = static_cast<int>(field.offset % 8);
  uint64_t value = LoadBigPrefix(text) << skipped;
  if (text.size() == 9) value |= static_cast<uint64_t>(ByteAt(text, 8) >> (8 - skipped));
  return Extended(field, value >> (64 - field.bits));
}

void WriteField(char* bitmap, const BitField& field, int64_t value) {
  const auto pattern = static_cast<uint64_t>(value);
  for (int written = 0; written < field.bits;) {
    const uint64_t at = field.offset + static_cast<uint64_t>(written);
    const int room = 8 - static_cast<int>(at % 8);
    const int count = std::min(room, field.bits - written);
    const auto part = static_cast<unsigned>(pattern >> (field.bits - written - count)) & ((1u << count) - 1);
    const unsigned mask = ((1u << count) - 1) << (room - count);
    const auto byte = static_cast<uint8_t>(bitmap[at / 8]);
    bitmap[at / 8] = static_cast<char>((byte & ~mask) | part << (room - count));
    written += count;
  }
}

std::optional<int64_t> ApplyOverflow(const BitField& field, int64_t value, FieldOverflow overflow) {
  const auto pattern = static_cast<uint64_t>(value);
  if (field.sign == FieldSign::kUnsigned) {
    // As in Redis, a negative value for an unsigned field counts as too high, not as too low.
    if (value >= 0 && value <= field.Max()) return value;
    return Resolve(field, pattern, Excess::kTooHigh, overflow);
  }
  if (value > field.Max()) return Resolve(field, pattern, Excess::kTooHigh, overflow);
  if (value >= field.Min()) return value;
  // As in Redis, a value below the minimum counts as too high, not as too low, if Max() - value overflows an int64_t.
  int64_t distance = 0;
  const bool far = __builtin_sub_overflow(field.Max(), value, &distance);
  return Resolve(field, pattern, far ? Excess::kTooHigh : Excess::kTooLow, overflow);
}

std::optional<int64_t> AddToField(const BitField& field, int64_t old_value, int64_t delta, FieldOverflow overflow) {
  int64_t sum = 0;
  const bool no_integer = __builtin_add_overflow(old_value, delta, &sum);
  if (!no_integer && sum >= field.Min() && sum <= field.Max()) return sum;
  const uint64_t pattern = static_cast<uint64_t>(old_value) + static_cast<uint64_t>(delta);
  return Resolve(field, pattern, delta > 0 ? Excess::kTooHigh : Excess::kTooLow, overflow);
}

}  // namespace respite
