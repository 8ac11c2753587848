// Listpack: a sequence of short texts and integers in one block of memory, in exactly the layout of Redis. So a packed
// value is written to a dump or an RDB file unchanged.
//
//   listpack = total size (4 bytes, little endian) | count (2, little endian; 65535: not known) | element … | 0xff
//   element  = encoding with data | their size in bytes, in groups of 7 bits, most significant first; every byte
//              except the leftmost has its high bit set, so that the size can be read backward
//
//   0xxxxxxx                    integer 0 … 127
//   10xxxxxx  text              up to 63 bytes
//   110xxxxx xxxxxxxx           integer of 13 bits, signed, big end first
//   1110xxxx xxxxxxxx  text     up to 4095 bytes
//   11110000 size×4  text       size little endian
//   11110001 … 11110100         integer of 16, 24, 32, 64 bits, signed, little endian
//
// A text that is exactly what an integer prints as (ParseInteger) is stored as this integer. Each element has the
// smallest encoding. So equal elements have equal bytes, and Find compares bytes. A listpack from another server must
// be encoded again, since the other server may use other encodings.
//
// Example: the pair "f", 1000:  0d 00 00 00 | 02 00 | 81 66 02 | c3 e8 02 | ff
//
// Elements are identified by their offset. The index-th element is found by iteration, which costs O(elements passed).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "base/byte_order.h"
#include "base/bytes.h"
#include "base/number_text.h"
#include "datatypes/packed_store.h"

namespace respite {

struct PackedElement {  // an element of a listpack or intset: a text or an integer
  Bytes text;
  int64_t integer = 0;      // the value, if is_integer
  bool is_integer = false;  // true: the value is `integer`; false: the value is `text`
};

// An integer is printed into the object itself. Another text is a view of the element.
class ElementText {  // the text of a PackedElement, also if the element is an integer
 public:
  explicit ElementText(const PackedElement& element) : view_(element.text) {
    if (element.is_integer) digits_.emplace(element.integer);
  }
  Bytes View() const { return digits_ ? Bytes(*digits_) : view_; }

 private:
  Bytes view_;
  std::optional<IntegerText> digits_;  // the printed integer; nullopt: the element is a text
};

// An element consists of head, text and tail. The head is the encoding; an integer is part of the head and has no text.
// The tail is the size of head and text, for backward iteration. The bytes of the text are not copied.
class EncodedElement {  // an element encoded for a listpack: head, text and tail
 public:
  explicit EncodedElement(Bytes text);
  explicit EncodedElement(int64_t integer);

  // Returns the size of the encoded element in bytes: head, text and tail.
  size_t Size() const { return head_size_ + text_.size() + tail_size_; }
  // `to` must have room for Size() bytes.
  char* Write(char* to) const;  // writes the encoded element to `to`; returns where it ends
  // Requires: `at` points to the first byte of a listpack element.
  bool Matches(const char* at) const {  // true: the listpack element at `at` has this head and text
    if (at[0] != head_[0] || std::memcmp(at, head_.data(), head_size_) != 0) return false;
    // Compares the ends first, because names of fields and members often begin alike: user:1, user:2.
    const char* const text = at + head_size_;
    const size_t size = text_.size();
    if (size >= sizeof(uint64_t)) {
      const size_t end = size - sizeof(uint64_t);
      if (LoadLittle<uint64_t>(text + end) != LoadLittle<uint64_t>(text_.data() + end)) return false;
    }
    return std::memcmp(text, text_.data(), size) == 0;
  }

 private:
  void EncodeInteger(int64_t integer);  // encodes an integer: sets head_ and tail_
  void EncodeTail();                    // encodes the element's size into tail_, for backward iteration

  std::array<char, 9> head_{};
  std::array<char, 5> tail_{};
  uint8_t head_size_ = 0;  // number of bytes used in head_
  uint8_t tail_size_ = 0;  // number of bytes used in tail_
  Bytes text_ = "";        // never null, because memcmp requires it
};

// The bytes must be well formed, and must not change while the Listpack is used.
class Listpack {  // reads Redis' encoding of a small collection; the bytes are borrowed
 public:
  static constexpr size_t kHeader = 6;          // bytes of the header, which has total size and count
  static constexpr size_t kNowhere = SIZE_MAX;  // result of Find: no such element
  // The maximum size in bytes of the listpack of a hash, set or sorted set. As in Redis, the directives cannot raise
  // the maximum.
  static constexpr size_t kMaxBytes = size_t{1} << 30;
  static Bytes Empty() { return {"\x07\0\0\0\0\0\xff", 7}; }  // the bytes of an empty listpack

  explicit Listpack(Bytes bytes) : bytes_(bytes) {}

  // Cost: O(1); O(n) from 65535 elements on, which the header cannot count.
  size_t Count() const;                                          // number of elements
  bool IsEmpty() const { return bytes_.size() == kHeader + 1; }  // true: there are no elements
  size_t Begin() const { return kHeader; }                       // offset of the first element
  // Returns the offset after the last element, where an appended element would begin.
  size_t End() const { return bytes_.size() - 1; }
  size_t Next(size_t at) const { return at + ElementSize(bytes_.data() + at); }
  // Requires: at > Begin().
  size_t Previous(size_t at) const;  // the offset of the element before the one at `at`
  size_t Last() const { return Previous(End()); }
  PackedElement At(size_t at) const;
  PackedElement Take(size_t& at) const {  // returns the element at offset `at`, and moves `at` to the next element
    const char* const element = bytes_.data() + at;
    const auto head = static_cast<uint8_t>(*element);
    if (head < 0x80) {
      at += 2;
      return {.text = {}, .integer = head, .is_integer = true};
    }
    if (head < 0xc0) {
      const size_t size = head & 63u;
      at += 2 + size;
      return {.text = {element + 1, size}};
    }
    const PackedElement long_one = At(at);
    at = Next(at);
    return long_one;
  }
  ElementText TextAt(size_t at) const { return ElementText(At(at)); }  // the element at offset `at`, as text
  // Returns the offset of the index-th element, or End() if there are fewer. Starts from the nearer end if the header
  // has the count. Cost: O(elements passed).
  size_t Seek(size_t index) const;
  // Examines the element at `from` and each `stride`-th after it. Returns the offset of the first of these that equals
  // `wanted`, or kNowhere.
  size_t Find(const EncodedElement& wanted, size_t from, size_t stride = 1) const;
  size_t Find(Bytes wanted, size_t from, size_t stride = 1) const { return Find(EncodedElement(wanted), from, stride); }

  static size_t ElementSize(const char* at) {  // bytes of the element at address `at`, including its tail
    const auto head = static_cast<uint8_t>(*at);
    if (head < 0x80) return 2;                 // a small integer
    if (head < 0xc0) return 2 + (head & 63u);  // a short text
    const size_t content = ContentSize(at);
    return content + TailSize(content);
  }
  static size_t SizeFor(Bytes text) { return EncodedElement(text).Size(); }  // bytes of an element with this text
  // Also checks the size and the count in the header. Cost: O(n).
  static bool IsWellFormed(Bytes bytes);  // true: a valid listpack, which can be read from both ends

 private:
  friend class EncodedElement;
  static size_t ContentSize(const char* at);  // bytes of the element at address `at`, without its tail
  static size_t TailSize(size_t content) {    // bytes of the tail after an element of `content` bytes
    return content <= 127 ? 1 : content < 16383 ? 2 : content < 2097151 ? 3 : content < 268435455 ? 4 : 5;
  }

  Bytes bytes_;  // the whole listpack
};

// The functions from here on edit a listpack. Texts must not be views of the listpack itself.

// If `at` is Listpack::End(), the elements are appended. Cost: O(bytes after `at`).
void InsertElements(PackedStore& store, size_t at,  // inserts elements before offset `at`
                    std::span<const EncodedElement> elements);
inline void InsertElement(PackedStore& store, size_t at, const EncodedElement& element) {  // inserts before offset `at`
  InsertElements(store, at, {&element, 1});
}
inline void AppendElement(PackedStore& store, const EncodedElement& element) {  // adds an element at the end
  InsertElement(store, store.Size() - 1, element);
}
void ReplaceElement(PackedStore& store, size_t at, const EncodedElement& element);  // replaces the one at offset `at`
// After the removal, `at` is the offset of the element that followed the removed ones.
void RemoveElements(PackedStore& store, size_t at, size_t count);  // removes `count` elements from offset `at` on

}  // namespace respite
