#include "persistence/packed_elements.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/byte_order.h"

namespace respite {

namespace {

constexpr uint8_t kEnd = 255;
constexpr size_t kCountUnknown = 65535;  // the count in the header of a listpack or ziplist: not known
constexpr uint8_t kLongForm = 254;       // a length or size of 4 bytes follows

// Reads bytes from the front of a text. After a read past the end, Failed() returns true and nothing is left to read.
class Cutter {
 public:
  explicit Cutter(Bytes bytes) : rest_(bytes) {}

  bool Failed() const { return failed_; }
  size_t Left() const { return rest_.size(); }
  Bytes Cut(uint64_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const Bytes cut = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return cut;
  }
  uint8_t Byte() {
    const Bytes cut = Cut(1);
    return cut.empty() ? uint8_t{0} : static_cast<uint8_t>(cut[0]);
  }
  uint64_t Little(size_t bytes) {
    const Bytes cut = Cut(bytes);
    return LoadLittle(cut.data(), cut.size());
  }
  uint64_t Big(size_t bytes) {
    const Bytes cut = Cut(bytes);
    return LoadBig(cut.data(), cut.size());
  }
  int64_t SignedLittle(size_t bytes) { return SignExtended(Little(bytes), static_cast<int>(bytes) * 8); }
  // Reads a size of a ziplist or zipmap: one byte, or, if that byte is 254, the 4 bytes after it. Fails for 255, which
  // marks the end.
  uint64_t ShortOrLong() {
    const uint8_t byte = Byte();
    if (byte == kEnd) failed_ = true;
    return byte == kLongForm ? Little(4) : byte;
  }

 private:
  Bytes rest_;
  bool failed_ = false;
};

PackedElement TextElement(Bytes text) { return {.text = text}; }
PackedElement IntegerElement(int64_t integer) { return {.text = {}, .integer = integer, .is_integer = true}; }

// Returns the size of the ziplist integer with this first byte, or 0 if the byte is invalid.
size_t ZiplistIntegerSize(uint8_t head) {
  switch (head) {
    case 0xc0:
      return 2;
    case 0xd0:
      return 4;
    case 0xe0:
      return 8;
    case 0xf0:
      return 3;
    case 0xfe:
      return 1;
    default:
      return 0;
  }
}

std::optional<PackedElement> ZiplistContent(Cutter& cutter) {
  const uint8_t head = cutter.Byte();
  if (head < 0x40) return TextElement(cutter.Cut(head));
  if (head < 0x80) return TextElement(cutter.Cut(uint64_t{head & 63u} << 8 | cutter.Byte()));
  if (head < 0xc0) return TextElement(cutter.Cut(cutter.Big(4)));
  if (head >= 0xf1 && head <= 0xfd) return IntegerElement(head - 0xf1);
  const size_t size = ZiplistIntegerSize(head);
  if (size == 0) return std::nullopt;
  return IntegerElement(cutter.SignedLittle(size));
}

// Reads a size in a zipmap. Returns nullopt if a size that fits into one byte is stored in the long form, which means
// that the zipmap is corrupt (CVE-2026-25243).
std::optional<uint64_t> ZipmapSize(Cutter& cutter) {
  const size_t left = cutter.Left();
  const uint64_t size = cutter.ShortOrLong();
  const bool is_long = left - cutter.Left() > 1;
  if (is_long && size < kLongForm) return std::nullopt;
  return size;
}

}  // namespace

std::optional<PackedElements> ZiplistElements(Bytes bytes) {
  constexpr size_t kHeader = 10;
  if (bytes.size() < kHeader + 1 || static_cast<uint8_t>(bytes.back()) != kEnd) return std::nullopt;
  Cutter cutter(bytes.substr(0, bytes.size() - 1));
  const uint64_t size = cutter.Little(4);
  const uint64_t last = cutter.Little(4);
  const uint64_t count = cutter.Little(2);
  if (size != bytes.size()) return std::nullopt;

  PackedElements elements;
  size_t begin = kHeader;
  size_t size_before = 0;
  while (cutter.Left() > 0) {
    const size_t here = bytes.size() - 1 - cutter.Left();
    if (!elements.empty()) size_before = here - begin;
    begin = here;
    const bool fits = cutter.ShortOrLong() == size_before;
    const auto element = ZiplistContent(cutter);
    if (!fits || !element || cutter.Failed()) return std::nullopt;
    elements.push_back(*element);
  }
  if (last != begin || (count != kCountUnknown && count != elements.size())) return std::nullopt;
  return elements;
}

std::optional<PackedElements> ZipmapElements(Bytes bytes) {
  if (bytes.size() < 2 || static_cast<uint8_t>(bytes.back()) != kEnd) return std::nullopt;
  Cutter cutter(bytes.substr(0, bytes.size() - 1));
  const uint8_t count = cutter.Byte();
  PackedElements elements;
  while (cutter.Left() > 0) {
    const std::optional<uint64_t> field_size = ZipmapSize(cutter);
    elements.push_back(TextElement(cutter.Cut(field_size.value_or(0))));
    const std::optional<uint64_t> value_size = ZipmapSize(cutter);
    if (!field_size || !value_size) return std::nullopt;
    const uint8_t free = cutter.Byte();
    elements.push_back(TextElement(cutter.Cut(*value_size)));
    cutter.Cut(free);
    if (cutter.Failed()) return std::nullopt;
  }
  if (count == kEnd || (count != kLongForm && count != elements.size() / 2)) return std::nullopt;
  return elements;
}

std::optional<PackedElements> IntsetElements(Bytes bytes) {
  Cutter cutter(bytes);
  const uint64_t width = cutter.Little(4);
  const uint64_t count = cutter.Little(4);
  if (width != 2 && width != 4 && width != 8) return std::nullopt;
  if (cutter.Failed() || cutter.Left() != width * count) return std::nullopt;
  PackedElements elements;
  elements.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t integer = cutter.SignedLittle(width);
    if (i > 0 && integer <= elements.back().integer) return std::nullopt;
    elements.push_back(IntegerElement(integer));
  }
  return elements;
}

namespace {

// Returns true if a signed integer of `bits` bits would also fit into `fewer` bits. The low `bits` bits of `number` are
// the integer.
bool FitsFewer(uint64_t number, int bits, int fewer) {
  const int64_t integer = SignExtended(number, bits);
  return integer >= -(int64_t{1} << (fewer - 1)) && integer < int64_t{1} << (fewer - 1);
}

bool ReadsAsInteger(const char* text, size_t size) {
  constexpr size_t kLongestInteger = 20;
  return size > 0 && size <= kLongestInteger && *text <= '9' && ParseInteger({text, size}).has_value();
}

// Returns the size of the element at `at` without its trailing size, or 0 if the element is truncated or not in its
// smallest encoding.
size_t CanonicalSize(const char* at, size_t left) {
  const auto head = static_cast<uint8_t>(at[0]);
  const auto size_if = [left](bool good, size_t size) { return good && size <= left ? size : 0; };
  if (head < 0x80) return 1;
  if (head < 0xc0) {
    const size_t size = head & 63u;
    return size < left && !ReadsAsInteger(at + 1, size) ? 1 + size : 0;
  }
  if (head > 0xf4 || left < 2) return 0;
  const auto second = static_cast<uint8_t>(at[1]);
  if (head < 0xe0) return (head & 31u) == 0 && second < 128 ? 0 : 2;
  if (head < 0xf0) {
    const size_t size = size_t{head & 15u} << 8 | second;
    return size_if(size > 63, 2 + size);
  }
  if (head == 0xf0) {
    const uint64_t size = left < 5 ? 0 : LoadLittle<uint32_t>(at + 1);
    return size_if(size > 4095, 5 + size);
  }
  const size_t bytes = head == 0xf4 ? 8 : head - 0xefu;
  if (left <= bytes) return 0;
  const int bits = static_cast<int>(bytes) * 8;
  const int fewer = bytes == 2 ? 13 : bytes == 8 ? 32 : bits - 8;
  return FitsFewer(LoadLittle(at + 1, bytes), bits, fewer) ? 0 : 1 + bytes;
}

// Returns how many bytes the trailing size of a listpack element takes. `content` is the size of the element without
// it, in bytes. Requires: content > 127.
size_t LongTailSize(size_t content) {
  size_t bytes = 2;
  for (size_t most = 16383; bytes < 5 && content >= most; most = most * 128 + 127) ++bytes;
  return bytes;
}

// Reads the trailing size after an element of `content` bytes, and returns how many bytes the trailing size has.
// Returns 0 if the bytes at `at` are not exactly that trailing size, or are too few.
size_t CanonicalTail(const char* at, size_t left, size_t content) {
  if (content <= 127) return left > 0 && static_cast<uint8_t>(*at) == content ? 1 : 0;
  const size_t bytes = LongTailSize(content);
  if (left < bytes) return 0;
  for (size_t i = 0; i < bytes; ++i) {
    const size_t group = (content >> (7 * (bytes - 1 - i))) & 127;
    if (static_cast<uint8_t>(at[i]) != (i == 0 ? group : group | 128)) return 0;
  }
  return bytes;
}

// An element, and its number of bytes without the trailing size. The number of bytes is 0 if the element is truncated
// or invalid.
struct Decoded {
  PackedElement element;
  size_t content;
};

Decoded DecodeElement(const char* at, size_t left) {
  const auto head = static_cast<uint8_t>(at[0]);
  const auto text = [&](size_t head_size, size_t size) -> Decoded {
    if (size > left - head_size) return {{}, 0};
    return {TextElement({at + head_size, size}), head_size + size};
  };
  if (head < 0x80) return {IntegerElement(head), 1};
  if (head < 0xc0) return text(1, head & 63u);
  if (head > 0xf4 || left < 2) return {{}, 0};
  const auto second = static_cast<uint8_t>(at[1]);
  if (head < 0xe0) return {IntegerElement(SignExtended(uint64_t{head & 31u} << 8 | second, 13)), 2};
  if (head < 0xf0) return text(2, size_t{head & 15u} << 8 | second);
  if (head == 0xf0) return left < 5 ? Decoded{{}, 0} : text(5, LoadLittle<uint32_t>(at + 1));
  const size_t bytes = head == 0xf4 ? 8 : head - 0xefu;
  if (left <= bytes) return {{}, 0};
  return {IntegerElement(SignExtended(LoadLittle(at + 1, bytes), static_cast<int>(bytes) * 8)), 1 + bytes};
}

// HasEqualTexts returns true if two of `count` texts are equal. Calls text_at(i) for the text with index i.
template <class TextAt>
bool HasEqualTexts(size_t count, const HashKey& hash_key, TextAt&& text_at) {
  constexpr size_t kFew = 16;  // up to this many texts are compared pairwise
  if (count <= kFew) {
    std::array<uint64_t, kFew> hashes;
    for (size_t i = 0; i < count; ++i) {
      hashes[i] = HashBytes(text_at(i), hash_key);
      for (size_t j = 0; j < i; ++j)
        if (hashes[i] == hashes[j] && Bytes(text_at(i)) == Bytes(text_at(j))) return true;
    }
    return false;
  }
  struct Slot {
    uint32_t number;  // the number of a text, counted from 1; 0 if the slot is empty
    uint32_t hash;
  };
  const size_t mask = std::bit_ceil(2 * count) - 1;
  std::vector<Slot> table(mask + 1);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t hash = HashBytes(text_at(i), hash_key);
    size_t at = hash & mask;
    for (; table[at].number != 0; at = (at + 1) & mask)
      if (table[at].hash == hash >> 32 && Bytes(text_at(i)) == Bytes(text_at(table[at].number - 1))) return true;
    table[at] = {static_cast<uint32_t>(i + 1), static_cast<uint32_t>(hash >> 32)};
  }
  return false;
}

}  // namespace

ListpackReader::ListpackReader(Bytes bytes) {
  constexpr size_t kCountAt = 4;
  if (bytes.size() <= Listpack::kHeader || LoadLittle<uint32_t>(bytes.data()) != bytes.size()) return;
  if (static_cast<uint8_t>(bytes.back()) != kEnd) return;
  at_ = bytes.data() + Listpack::kHeader;
  end_ = bytes.data() + bytes.size() - 1;
  stored_count_ = LoadLittle<uint16_t>(bytes.data() + kCountAt);
  failed_ = false;
}

PackedElement ListpackReader::Next() {
  if (!failed_ && at_ != end_) {
    const auto [element, content] = DecodeElement(at_, Left());
    const size_t tail = content == 0 ? 0 : CanonicalTail(at_ + content, Left() - content, content);
    at_ += content + tail;
    ++count_;
    if (tail != 0) return element;
  }
  failed_ = true;
  at_ = end_;
  return {};
}

bool ListpackReader::IsComplete() const {
  return !failed_ && AtEnd() && (stored_count_ == kCountUnknown || stored_count_ == count_);
}

std::optional<PackedElements> ListpackElements(Bytes bytes) {
  ListpackReader reader(bytes);
  PackedElements elements;
  elements.reserve(reader.Left() / 4);
  while (!reader.Failed() && !reader.AtEnd()) elements.push_back(reader.Next());
  if (!reader.IsComplete()) return std::nullopt;
  return elements;
}

bool HasEqualElements(std::span<const PackedElement> elements, size_t stride, const HashKey& hash_key) {
  std::vector<ElementText> texts;
  texts.reserve(elements.size() / stride + 1);
  for (size_t i = 0; i < elements.size(); i += stride) texts.emplace_back(elements[i]);
  return HasEqualTexts(texts.size(), hash_key, [&](size_t i) { return texts[i].View(); });
}

CanonicalListpack::CanonicalListpack(Bytes bytes) : bytes_(bytes) {
  constexpr size_t kCountAt = 4;
  if (bytes.size() <= Listpack::kHeader || LoadLittle<uint32_t>(bytes.data()) != bytes.size()) return;
  if (static_cast<uint8_t>(bytes.back()) != kEnd) return;
  const char* at = bytes.data() + Listpack::kHeader;
  const char* const end = bytes.data() + bytes.size() - 1;
  while (at != end) {
    const auto left = static_cast<size_t>(end - at);
    const size_t content = CanonicalSize(at, left);
    const size_t tail = content == 0 ? 0 : CanonicalTail(at + content, left - content, content);
    if (tail == 0) return;
    Append({at, content});
    at += content + tail;
  }
  is_canonical_ = LoadLittle<uint16_t>(bytes.data() + kCountAt) == std::min(count_, kCountUnknown);
}

bool CanonicalListpack::HasEqualElements(size_t stride, const HashKey& hash_key) const {
  return HasEqualTexts((count_ + stride - 1) / stride, hash_key, [&](size_t i) { return RawBytes(i * stride); });
}

char* ListpackMaker::Room(size_t bytes) {
  if (bytes_.size() - size_ <= bytes) bytes_.resize(std::max(2 * bytes_.size(), size_ + bytes + 1));
  return bytes_.data() + size_;
}

void ListpackMaker::Append(const EncodedElement& element) {
  element.Write(Room(element.Size()));
  size_ += element.Size();
  ++count_;
}

void ListpackMaker::AppendText(Bytes text) {
  constexpr size_t kShort = 63;
  constexpr size_t kMaxAround = 2;
  if (text.size() > kShort || ReadsAsInteger(text.data(), text.size())) return Append(EncodedElement(text));
  char* at = Room(text.size() + kMaxAround);
  *at++ = static_cast<char>(0x80 | text.size());
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  at[text.size()] = static_cast<char>(1 + text.size());
  size_ += text.size() + kMaxAround;
  ++count_;
}

void ListpackMaker::AppendInteger(int64_t integer) {
  if (integer < 0 || integer > 127) return Append(EncodedElement(integer));
  char* at = Room(2);
  at[0] = static_cast<char>(integer);
  at[1] = 1;
  size_ += 2;
  ++count_;
}

Bytes ListpackMaker::Finish() {
  *Room(0) = static_cast<char>(kEnd);
  StoreLittle<uint32_t>(bytes_.data(), static_cast<uint32_t>(size_ + 1));
  StoreLittle<uint16_t>(bytes_.data() + 4, static_cast<uint16_t>(std::min(count_, kCountUnknown)));
  return {bytes_.data(), size_ + 1};
}

std::string MakeListpack(std::span<const PackedElement> elements) {
  ListpackMaker maker;
  for (const PackedElement& element : elements) maker.Append(element);
  return maker.Take();
}

std::string MakeIntset(std::span<const int64_t> integers) {
  constexpr size_t kHeader = 8;
  auto all_fit = [&](auto narrow) {
    using Narrow = decltype(narrow);
    return std::all_of(integers.begin(), integers.end(), [](int64_t n) { return n == static_cast<Narrow>(n); });
  };
  const size_t width = all_fit(int16_t{}) ? 2 : all_fit(int32_t{}) ? 4 : 8;
  std::string intset(kHeader + integers.size() * width, '\0');
  StoreLittle<uint32_t>(intset.data(), static_cast<uint32_t>(width));
  StoreLittle<uint32_t>(intset.data() + 4, static_cast<uint32_t>(integers.size()));
  for (size_t i = 0; i < integers.size(); ++i)
    StoreLittle(intset.data() + kHeader + i * width, static_cast<uint64_t>(integers[i]), width);
  return intset;
}

}  // namespace respite
