#include "persistence/packed_elements.h"

#include <algorithm>
#include <unordered_set>

namespace respite {

namespace {

constexpr uint8_t kEnd = 255;
constexpr uint8_t kLongForm = 254;  // a length or size of 4 octets follows

// Takes octets off the front of a run; reading past its end leaves it failed and empty.
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
  uint8_t Octet() {
    const Bytes cut = Cut(1);
    return cut.empty() ? uint8_t{0} : static_cast<uint8_t>(cut[0]);
  }
  uint64_t Little(size_t octets) {
    const Bytes cut = Cut(octets);
    uint64_t number = 0;
    for (size_t i = cut.size(); i > 0; --i) number = number << 8 | static_cast<uint8_t>(cut[i - 1]);
    return number;
  }
  uint64_t BigEnd(size_t octets) {
    uint64_t number = 0;
    for (char octet : Cut(octets)) number = number << 8 | static_cast<uint8_t>(octet);
    return number;
  }
  int64_t SignedLittle(size_t octets) {
    const int unused = 64 - static_cast<int>(octets) * 8;
    return static_cast<int64_t>(Little(octets) << unused) >> unused;
  }
  // One octet, or the 4 behind a 254; 255 would be the end.
  uint64_t ShortOrLong() {
    const uint8_t octet = Octet();
    if (octet == kEnd) failed_ = true;
    return octet == kLongForm ? Little(4) : octet;
  }

 private:
  Bytes rest_;
  bool failed_ = false;
};

PackedElement TextElement(Bytes text) { return {.text = text}; }
PackedElement IntegerElement(int64_t integer) { return {.text = {}, .integer = integer, .is_integer = true}; }

// Octets of a ziplist's integer with this first octet; 0: there is none such.
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
  const uint8_t head = cutter.Octet();
  if (head < 0x40) return TextElement(cutter.Cut(head));
  if (head < 0x80) return TextElement(cutter.Cut(uint64_t{head & 63u} << 8 | cutter.Octet()));
  if (head < 0xc0) return TextElement(cutter.Cut(cutter.BigEnd(4)));
  if (head >= 0xf1 && head <= 0xfd) return IntegerElement(head - 0xf1);
  const size_t size = ZiplistIntegerSize(head);
  if (size == 0) return std::nullopt;
  return IntegerElement(cutter.SignedLittle(size));
}

void StoreLittle(std::string& bytes, size_t at, uint64_t number, size_t octets) {
  for (size_t i = 0; i < octets; ++i) bytes[at + i] = static_cast<char>(number >> (8 * i));
}

}  // namespace

std::optional<PackedElements> ListpackElements(Bytes bytes) {
  if (!Listpack::IsWellFormed(bytes)) return std::nullopt;
  const Listpack listpack(bytes);
  PackedElements elements;
  elements.reserve(listpack.Count());
  for (size_t at = listpack.Begin(); at != listpack.End(); at = listpack.Next(at)) elements.push_back(listpack.At(at));
  return elements;
}

std::optional<PackedElements> ZiplistElements(Bytes bytes) {
  constexpr size_t kHeader = 10;
  constexpr uint64_t kCountUnknown = 65535;
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
  const uint8_t count = cutter.Octet();
  PackedElements elements;
  while (cutter.Left() > 0) {
    elements.push_back(TextElement(cutter.Cut(cutter.ShortOrLong())));
    const uint64_t value_size = cutter.ShortOrLong();
    const uint8_t free = cutter.Octet();
    elements.push_back(TextElement(cutter.Cut(value_size)));
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

bool HasEqualElements(std::span<const PackedElement> elements, size_t stride) {
  constexpr size_t kFewElements = 16;  // compared each with each
  std::vector<std::string> printed;    // the digits of integers, in place
  printed.reserve(elements.size() / stride + 1);
  std::vector<Bytes> texts;
  for (size_t i = 0; i < elements.size(); i += stride) {
    if (!elements[i].is_integer) {
      texts.push_back(elements[i].text);
      continue;
    }
    printed.push_back(IntegerText(elements[i].integer).Text());
    texts.push_back(printed.back());
  }
  if (texts.size() > kFewElements) return std::unordered_set<Bytes>(texts.begin(), texts.end()).size() != texts.size();
  for (auto one = texts.begin(); one != texts.end(); ++one)
    if (std::find(one + 1, texts.end(), *one) != texts.end()) return true;
  return false;
}

void ListpackMaker::Append(const EncodedElement& element) {
  const size_t at = bytes_.size();
  bytes_.resize(at + element.Size());
  element.Write(bytes_.data() + at);
  ++count_;
}

std::string ListpackMaker::Take() {
  constexpr size_t kCountUnknown = 65535;
  bytes_ += '\xff';
  StoreLittle(bytes_, 0, bytes_.size(), 4);
  StoreLittle(bytes_, 4, std::min(count_, kCountUnknown), 2);
  return std::move(bytes_);
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
  StoreLittle(intset, 0, width, 4);
  StoreLittle(intset, 4, integers.size(), 4);
  for (size_t i = 0; i < integers.size(); ++i)
    StoreLittle(intset, kHeader + i * width, static_cast<uint64_t>(integers[i]), width);
  return intset;
}

}  // namespace respite
