#include "datatypes/chunk_seal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "base/byte_order.h"
#include "base/number_text.h"
#include "base/out_of_memory.h"

namespace respite {

namespace {

constexpr size_t kMaxElement = 255;
constexpr size_t kSpareBytes = 8;
constexpr unsigned kPlainBits = 8;

size_t SharedPrefix(Bytes a, Bytes b) {
  const size_t most = std::min(a.size(), b.size());
  size_t same = 0;
  for (; same + sizeof(uint64_t) <= most; same += sizeof(uint64_t)) {
    const uint64_t different = LoadLittle<uint64_t>(a.data() + same) ^ LoadLittle<uint64_t>(b.data() + same);
    if (different != 0) return same + static_cast<size_t>(std::countr_zero(different)) / 8;
  }
  while (same < most && a[same] == b[same]) ++same;
  return same;
}

// How the texts of one chunk of a list are packed in the form kTexts (see chunk_seal.h). Size() is the size of the
// packed block.
struct TextPlan {
  size_t prefix = 0;
  bool has_lengths = false;
  size_t symbols = 0;
  std::array<uint8_t, 256> symbol_of{};
  std::array<char, 128> alphabet{};
  size_t alphabet_size = 0;
  unsigned bits = kPlainBits;
  size_t count = 0;

  size_t AlphabetBytes() const { return bits == kPlainBits ? 0 : alphabet_size; }
  size_t LengthBytes() const { return has_lengths ? count : 0; }
  size_t Size() const {
    return sizeof(ChunkBlock) + AlphabetBytes() + prefix + LengthBytes() + (symbols * bits + 7) / 8 + kSpareBytes;
  }
};

void PlanPrefix(TextPlan& plan, std::span<const Bytes> elements) {
  const Bytes first = elements.front();
  plan.prefix = first.size();
  plan.count = elements.size();
  size_t bytes = 0;
  for (const Bytes element : elements) {
    plan.prefix = SharedPrefix(first.substr(0, plan.prefix), element);
    if (element.size() != first.size()) plan.has_lengths = true;
    bytes += element.size();
  }
  plan.symbols = bytes - plan.prefix * plan.count;
}

void PlanAlphabet(TextPlan& plan, std::span<const Bytes> elements) {
  std::array<bool, 256> occurs{};
  for (const Bytes element : elements) {
    for (const char c : element.substr(plan.prefix)) occurs[static_cast<uint8_t>(c)] = true;
  }
  const auto kinds = static_cast<size_t>(std::count(occurs.begin(), occurs.end(), true));
  if (kinds > plan.alphabet.size()) return;
  for (size_t c = 0; c < occurs.size(); ++c) {
    if (!occurs[c]) continue;
    plan.symbol_of[c] = static_cast<uint8_t>(plan.alphabet_size);
    plan.alphabet[plan.alphabet_size++] = static_cast<char>(c);
  }
  plan.bits = kinds <= 1 ? 0 : static_cast<unsigned>(std::bit_width(kinds - 1));
}

std::optional<TextPlan> PlanTexts(std::span<const Bytes> elements) {
  for (const Bytes element : elements) {
    if (element.size() > kMaxElement) return std::nullopt;
  }
  TextPlan plan;
  PlanPrefix(plan, elements);
  PlanAlphabet(plan, elements);
  return plan;
}

struct IntegerPlan {
  int64_t smallest = std::numeric_limits<int64_t>::max();
  int64_t largest = std::numeric_limits<int64_t>::min();
  size_t count = 0;

  unsigned Width() const {
    const uint64_t spread = static_cast<uint64_t>(largest) - static_cast<uint64_t>(smallest);
    return static_cast<unsigned>(std::bit_width(spread) + 7) / 8;
  }
  size_t Size() const { return sizeof(ChunkBlock) + sizeof(int64_t) + Width() * count + kSpareBytes; }
};

std::optional<IntegerPlan> PlanIntegers(std::span<const Bytes> elements) {
  IntegerPlan plan;
  plan.count = elements.size();
  for (const Bytes element : elements) {
    const std::optional<int64_t> value = ParseInteger(element);
    if (!value) return std::nullopt;
    plan.smallest = std::min(plan.smallest, *value);
    plan.largest = std::max(plan.largest, *value);
  }
  return plan;
}

// Writes symbols one after the other. All symbols have `bits` bits, at most 7. Stores 8 bytes at a time, so up to 7
// bytes after the last symbol are overwritten.
class BitWriter {
 public:
  BitWriter(char* to, unsigned bits) : to_(to), bits_(bits) {}
  void Put(uint8_t symbol) {
    word_ |= static_cast<uint64_t>(symbol) << filled_;
    filled_ += bits_;
    if (filled_ > kMostKept) Flush();
  }
  void Finish() { Flush(); }

 private:
  static constexpr unsigned kMostKept = 56;  // one more symbol fits

  void Flush() {
    StoreLittle<uint64_t>(to_, word_);
    const unsigned whole = filled_ / 8 * 8;
    to_ += whole / 8;
    word_ >>= whole;
    filled_ -= whole;
  }

  char* to_;
  unsigned bits_;
  unsigned filled_ = 0;
  uint64_t word_ = 0;
};

void WriteSymbols(ChunkBlock& block, const TextPlan& plan, std::span<const Bytes> elements) {
  if (plan.bits == kPlainBits) {
    char* to = block.At(block.body_offset);
    for (const Bytes element : elements) to = std::copy(element.begin() + block.prefix, element.end(), to);
    return;
  }
  BitWriter writer(block.At(block.body_offset), plan.bits);
  for (const Bytes element : elements) {
    for (const char c : element.substr(plan.prefix)) writer.Put(plan.symbol_of[static_cast<uint8_t>(c)]);
  }
  writer.Finish();
}

// Clears the padding at the end of a block. UnpackSymbols decodes eight symbols together, so it also decodes bits of
// the padding: zeros stand for the first character of the alphabet, any other bits could be an invalid symbol.
// UnpackInteger also loads the padding, but ignores it.
void ClearSpareBytes(ChunkBlock& block) { std::memset(block.At(block.size - kSpareBytes), 0, kSpareBytes); }

ChunkBlock* WriteTexts(const TextPlan& plan, std::span<const Bytes> elements) {
  ChunkBlock* block = AllocateChunkBlock(plan.Size());
  block->form = ChunkForm::kTexts;
  block->unit = static_cast<uint8_t>(plan.bits);
  block->prefix = static_cast<uint8_t>(plan.prefix);
  block->has_lengths = plan.has_lengths;
  block->width = static_cast<uint8_t>(elements.front().size() - plan.prefix);
  block->lengths_offset = static_cast<uint32_t>(sizeof(ChunkBlock) + plan.AlphabetBytes() + plan.prefix);
  block->body_offset = static_cast<uint32_t>(block->lengths_offset + plan.LengthBytes());
  block->end = static_cast<uint32_t>(plan.symbols);
  char* to = block->At(sizeof(ChunkBlock));
  to = std::copy_n(elements.front().begin(), plan.prefix, to);
  to = std::copy_n(plan.alphabet.begin(), plan.AlphabetBytes(), to);
  if (plan.has_lengths) {
    for (const Bytes element : elements) *to++ = static_cast<char>(element.size() - plan.prefix);
  }
  WriteSymbols(*block, plan, elements);
  ClearSpareBytes(*block);
  return block;
}

ChunkBlock* WriteIntegers(const IntegerPlan& plan, std::span<const Bytes> elements) {
  ChunkBlock* block = AllocateChunkBlock(plan.Size());
  ClearSpareBytes(*block);
  block->form = ChunkForm::kIntegers;
  block->unit = static_cast<uint8_t>(plan.Width());
  block->body_offset = sizeof(ChunkBlock) + sizeof(int64_t);
  block->end = static_cast<uint32_t>(elements.size());
  StoreLittle<int64_t>(block->At(sizeof(ChunkBlock)), plan.smallest);
  char* to = block->At(block->body_offset);
  for (const Bytes element : elements) {
    const uint64_t difference = static_cast<uint64_t>(*ParseInteger(element)) - static_cast<uint64_t>(plan.smallest);
    StoreLittle<uint64_t>(to, difference);  // also writes to the next place, or to the room at the end
    to += block->unit;
  }
  return block;
}

// EightCharacters decodes the eight symbols in the lowest bits of `word`, and returns their characters. Eight symbols
// have at most 56 bits, so one word contains them even if the first symbol starts inside a byte.
template <unsigned kBits, unsigned... kIndex>
uint64_t EightCharacters(uint64_t word, const char* alphabet, std::integer_sequence<unsigned, kIndex...> /*all*/) {
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  return ((uint64_t{static_cast<uint8_t>(alphabet[(word >> (kIndex * kBits)) & kMask])} << (8 * kIndex)) | ...);
}

// UnpackSymbols decodes `symbols` symbols into `to`. Stores eight characters at a time: if `to` were written byte by
// byte, the caller's copy of the text would be slow.
template <unsigned kBits>
void UnpackSymbols(const ChunkBlock& block, uint32_t place, uint32_t symbols, char* to) {
  const char* alphabet = block.At(sizeof(ChunkBlock) + block.prefix);
  const char* packed = block.At(block.body_offset);
  size_t bit = size_t{place} * kBits;
  for (uint32_t done = 0; done < symbols; done += 8, bit += 8 * kBits) {
    const uint64_t word = LoadLittle<uint64_t>(packed + bit / 8) >> (bit % 8);
    const uint64_t text = EightCharacters<kBits>(word, alphabet, std::make_integer_sequence<unsigned, 8>());
    StoreLittle<uint64_t>(to + done, text);
  }
}

// kUnpackSymbols[n] decodes symbols of n bits.
constexpr std::array kUnpackSymbols = {UnpackSymbols<0>, UnpackSymbols<1>, UnpackSymbols<2>, UnpackSymbols<3>,
                                       UnpackSymbols<4>, UnpackSymbols<5>, UnpackSymbols<6>, UnpackSymbols<7>};

}  // namespace

ChunkBlock* AllocateChunkBlock(size_t size) {
  void* memory = AllocateOrEnd(size);
  auto* block = new (memory) ChunkBlock{};
  block->size = static_cast<uint32_t>(size);
  return block;
}

ChunkBlock* CreateSealedBlock(std::span<const Bytes> elements, size_t open_size) {
  const std::optional<TextPlan> texts = PlanTexts(elements);
  if (!texts) return nullptr;
  const std::optional<IntegerPlan> integers = PlanIntegers(elements);
  if (integers && integers->Size() <= texts->Size()) return WriteIntegers(*integers, elements);
  return texts->Size() < open_size ? WriteTexts(*texts, elements) : nullptr;
}

void UnpackPrefix(const ChunkBlock& block, char* scratch) {
  std::memcpy(scratch, block.At(sizeof(ChunkBlock)), block.prefix);
}

Bytes UnpackText(const ChunkBlock& block, uint32_t place, uint32_t symbols, char* scratch) {
  const bool is_plain = block.unit == kPlainBits;
  const char* plain = block.At(block.body_offset + place);
  if (is_plain && block.prefix == 0) return {plain, symbols};
  if (is_plain) {
    std::memcpy(scratch + block.prefix, plain, symbols);
  } else {
    kUnpackSymbols[block.unit](block, place, symbols, scratch + block.prefix);
  }
  return {scratch, size_t{block.prefix} + symbols};
}

Bytes UnpackInteger(const ChunkBlock& block, uint32_t place, char* scratch) {
  const auto smallest = LoadLittle<int64_t>(block.At(sizeof(ChunkBlock)));
  const unsigned bits = 8u * block.unit;
  uint64_t difference = LoadLittle<uint64_t>(block.At(block.body_offset + size_t{place} * block.unit));
  if (bits < 64) difference &= (uint64_t{1} << bits) - 1;
  const auto value = static_cast<int64_t>(static_cast<uint64_t>(smallest) + difference);
  return {scratch, static_cast<size_t>(std::to_chars(scratch, scratch + 20, value).ptr - scratch)};
}

}  // namespace respite
