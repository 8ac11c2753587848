#include "datatypes/listpack.h"

#include <algorithm>

#include "base/byte_order.h"

namespace respite {

namespace {

constexpr size_t kCountUnknown = 65535;

uint8_t Byte(const char* at) { return static_cast<uint8_t>(*at); }

bool FitsBits(int64_t value, int bits) {
  return value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << (bits - 1));
}

// Writes the tail (Redis: backlen) of an element: `content`, the size of the element without its tail, as a number of
// `bytes` bytes. Returns `bytes`.
size_t WriteTail(char* to, size_t content, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    uint8_t group = static_cast<uint8_t>((content >> (7 * (bytes - 1 - i))) & 127);
    to[i] = static_cast<char>(i == 0 ? group : group | 128);
  }
  return bytes;
}

size_t StoredCount(Bytes bytes) { return LoadLittle<uint16_t>(bytes.data() + 4); }

// Updates total size and count in the header after `added` elements were inserted and `removed` elements were deleted.
void WriteHeader(PackedStore& store, size_t added, size_t removed) {
  char* header = store.Data();
  StoreLittle<uint32_t>(header, static_cast<uint32_t>(store.Size()));
  size_t count = StoredCount(store.View());
  if (count == kCountUnknown) {
    if (removed == 0) return;
    count = Listpack(store.View()).Count();  // the new count may be small enough to be stored again
  } else {
    count = count + added - removed;
  }
  StoreLittle<uint16_t>(header + 4, static_cast<uint16_t>(std::min(count, kCountUnknown)));
}

}  // namespace

EncodedElement::EncodedElement(Bytes text) {
  if (text.size() <= 20) {
    if (auto integer = ParseInteger(text)) {
      EncodeInteger(*integer);
      return;
    }
  }
  if (!text.empty()) text_ = text;
  if (text.size() < 64) {
    head_[0] = static_cast<char>(0x80 | text.size());
    head_size_ = 1;
  } else if (text.size() < 4096) {
    head_[0] = static_cast<char>(0xe0 | (text.size() >> 8));
    head_[1] = static_cast<char>(text.size());
    head_size_ = 2;
  } else {
    head_[0] = static_cast<char>(0xf0);
    StoreLittle<uint32_t>(head_.data() + 1, static_cast<uint32_t>(text.size()));
    head_size_ = 5;
  }
  EncodeTail();
}

EncodedElement::EncodedElement(int64_t integer) { EncodeInteger(integer); }

void EncodedElement::EncodeInteger(int64_t integer) {
  const auto bits = static_cast<uint64_t>(integer);
  if (integer >= 0 && integer <= 127) {
    head_[0] = static_cast<char>(integer);
    head_size_ = 1;
  } else if (FitsBits(integer, 13)) {
    head_[0] = static_cast<char>(0xc0 | ((bits >> 8) & 31));
    head_[1] = static_cast<char>(bits);
    head_size_ = 2;
  } else {
    const int bytes = FitsBits(integer, 16) ? 2 : FitsBits(integer, 24) ? 3 : FitsBits(integer, 32) ? 4 : 8;
    head_[0] = static_cast<char>(bytes == 8 ? 0xf4 : 0xef + bytes);
    StoreLittle(head_.data() + 1, bits, static_cast<size_t>(bytes));
    head_size_ = static_cast<uint8_t>(1 + bytes);
  }
  EncodeTail();
}

void EncodedElement::EncodeTail() {
  const size_t content = head_size_ + text_.size();
  tail_size_ = static_cast<uint8_t>(WriteTail(tail_.data(), content, Listpack::TailSize(content)));
}

char* EncodedElement::Write(char* to) const {
  to = std::copy_n(head_.data(), head_size_, to);
  to = std::copy_n(text_.data(), text_.size(), to);
  return std::copy_n(tail_.data(), tail_size_, to);
}

size_t Listpack::ContentSize(const char* at) {
  const uint8_t head = Byte(at);
  if (head < 0x80) return 1;
  if (head < 0xc0) return 1 + size_t{head & 63u};
  if (head < 0xe0) return 2;
  if (head < 0xf0) return 2 + (size_t{head & 15u} << 8 | Byte(at + 1));
  if (head == 0xf0) return size_t{5} + LoadLittle<uint32_t>(at + 1);
  return head == 0xf4 ? 9 : size_t{head} - 0xf0 + 2;
}

size_t Listpack::Count() const {
  const size_t stored = StoredCount(bytes_);
  if (stored != kCountUnknown) return stored;
  size_t count = 0;
  for (size_t at = Begin(); at != End(); at = Next(at)) ++count;
  return count;
}

size_t Listpack::Previous(size_t at) const {
  size_t content = 0;
  for (int shift = 0;; shift += 7) {
    const uint8_t byte = Byte(bytes_.data() + --at);
    content |= size_t{byte & 127u} << shift;
    if (byte < 128) break;
  }
  return at - content;
}

PackedElement Listpack::At(size_t at) const {
  const char* element = bytes_.data() + at;
  const uint8_t head = Byte(element);
  auto integer = [](int64_t value) { return PackedElement{.text = {}, .integer = value, .is_integer = true}; };
  auto text = [&](size_t head_size) {
    return PackedElement{.text = {element + head_size, ContentSize(element) - head_size}};
  };
  if (head < 0x80) return integer(head);
  if (head < 0xc0) return text(1);
  if (head < 0xe0) return integer(SignExtended(uint64_t{head & 31u} << 8 | Byte(element + 1), 13));
  if (head < 0xf0) return text(2);
  if (head == 0xf0) return text(5);
  const size_t bytes = ContentSize(element) - 1;
  return integer(SignExtended(LoadLittle(element + 1, bytes), static_cast<int>(bytes * 8)));
}

size_t Listpack::Seek(size_t index) const {
  const size_t stored = StoredCount(bytes_);
  if (stored != kCountUnknown) {
    if (index >= stored) return End();
    if (index > stored / 2) {
      size_t at = End();
      for (size_t i = stored; i > index; --i) at = Previous(at);
      return at;
    }
  }
  size_t at = Begin();
  for (; index > 0 && at != End(); --index) at = Next(at);
  return at;
}

size_t Listpack::Find(const EncodedElement& wanted, size_t from, size_t stride) const {
  const char* const end = bytes_.data() + End();
  for (const char* at = bytes_.data() + from; at != end;) {
    if (wanted.Matches(at)) return static_cast<size_t>(at - bytes_.data());
    for (size_t i = 0; i < stride && at != end; ++i) at += ElementSize(at);
  }
  return kNowhere;
}

bool Listpack::IsWellFormed(Bytes bytes) {
  if (bytes.size() < kHeader + 1 || LoadLittle<uint32_t>(bytes.data()) != bytes.size()) return false;
  if (Byte(&bytes.back()) != 0xff) return false;
  const size_t end = bytes.size() - 1;
  size_t count = 0;
  for (size_t at = kHeader; at != end; ++count) {
    const uint8_t head = Byte(bytes.data() + at);
    const size_t needed = head == 0xf0 ? 5 : (head & 0xf0) == 0xe0 ? 2 : 1;  // bytes that encode the size
    if (head > 0xf4 || end - at < needed) return false;
    const size_t content = ContentSize(bytes.data() + at);
    const size_t tail = TailSize(content);
    if (end - at < content || end - at - content < tail) return false;
    std::array<char, 5> expected;
    WriteTail(expected.data(), content, tail);
    if (std::memcmp(bytes.data() + at + content, expected.data(), tail) != 0) return false;
    at += content + tail;
  }
  const size_t stored = StoredCount(bytes);
  return stored == kCountUnknown || stored == count;
}

void InsertElements(PackedStore& store, size_t at, std::span<const EncodedElement> elements) {
  size_t size = 0;
  for (const EncodedElement& element : elements) size += element.Size();
  char* to = store.Splice(at, 0, size);
  for (const EncodedElement& element : elements) to = element.Write(to);
  WriteHeader(store, elements.size(), 0);
}

void ReplaceElement(PackedStore& store, size_t at, const EncodedElement& element) {
  const size_t old_size = Listpack::ElementSize(store.Data() + at);
  element.Write(store.Splice(at, old_size, element.Size()));
  if (old_size != element.Size()) WriteHeader(store, 0, 0);
}

void RemoveElements(PackedStore& store, size_t at, size_t count) {
  const Listpack listpack(store.View());
  size_t end = at;
  size_t removed = 0;
  for (; removed < count && end != listpack.End(); ++removed) end = listpack.Next(end);
  store.Splice(at, end - at, 0);
  WriteHeader(store, 0, removed);
}

}  // namespace respite
