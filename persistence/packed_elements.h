// The packed encodings in RDB texts, both current (listpack, intset) and old (ziplist, zipmap), as lists of elements.
//
// The bytes are untrusted: each function checks everything and returns nullopt if there is an error. Elements are views
// of the bytes.
//
//   ziplist = size {4} | offset of the last entry {4} | count {2} (65535: unknown) | entry … | 255
//     entry = size of the previous entry (one byte if below 254, else 254 {4}) | content
//             content by its first byte: 00 text of up to 63, 01 of 14 bits (big-endian), 10 of {4} (big-endian);
//             0xc0 0xd0 0xe0 0xf0 0xfe integers of 2, 4, 8, 3, 1 bytes; 0xf1 … 0xfd the integers 0 … 12
//   zipmap  = count of pairs (254: unknown) | pair … | 255
//     pair  = length | field | length | free bytes {1} | value | free …      length: one byte, or 254 {4}
//   intset  = width {4}: 2, 4 or 8 | count {4} | integers of that width, ascending
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "datatypes/listpack.h"

namespace respite {

using PackedElements = std::vector<PackedElement>;

// ListpackElements … IntsetElements return all elements of a packed value. Cost: O(n).
std::optional<PackedElements> ListpackElements(Bytes bytes);  // decodes a listpack; nullopt: malformed
std::optional<PackedElements> ZiplistElements(Bytes bytes);   // decodes an old ziplist; nullopt: malformed
std::optional<PackedElements> ZipmapElements(Bytes bytes);    // decodes an old zipmap; nullopt: malformed
std::optional<PackedElements> IntsetElements(Bytes bytes);    // decodes an intset; nullopt: malformed

// Reads the elements of a listpack in order. After an error, or a call of Fail, Failed() returns true, and Next()
// returns empty elements.
class ListpackReader {  // reads an untrusted listpack element by element
 public:
  explicit ListpackReader(Bytes bytes);

  bool Failed() const { return failed_; }     // true: malformed, read past its end, or Fail was called
  void Fail() { failed_ = true; }             // makes Failed true, for callers that find an error themselves
  bool AtEnd() const { return at_ == end_; }  // true: no element is left to read
  // At most Left() / 2 elements follow, because each takes at least two bytes.
  size_t Left() const { return static_cast<size_t>(end_ - at_); }  // number of unread bytes
  // Returns an empty element after a failure.
  PackedElement Next();     // reads the next element; none or malformed: Failed() becomes true
  bool IsComplete() const;  // true: all elements were read, and their number equals the header's

 private:
  const char* at_ = nullptr;   // the next unread byte
  const char* end_ = nullptr;  // the end of the listpack, without its end byte
  size_t count_ = 0;           // number of elements read so far
  size_t stored_count_ = 0;    // number of elements that the header announces
  bool failed_ = true;         // what Failed() returns; set until the header was checked
};

// An integer equals a text that is its decimal form. `hash_key` is for a temporary hash table. Cost: O(n).
bool HasEqualElements(std::span<const PackedElement> elements,  // true: two of elements 0, stride, 2*stride … are equal
                      size_t stride, const HashKey& hash_key);

// A listpack is canonical if it is well formed, has each element in its smallest encoding, and a correct number of
// elements. Such a listpack can be stored unchanged, and its equal elements have equal bytes. Cost: O(n); allocates
// only for listpacks of more than 64 elements.
class CanonicalListpack {  // checks whether a listpack has the bytes that this server would write
 public:
  explicit CanonicalListpack(Bytes bytes);

  // Call the other functions of this class only if this returns true.
  bool IsCanonical() const { return is_canonical_; }  // true: has the very bytes that this server would write
  size_t Count() const { return count_; }             // number of elements
  PackedElement At(size_t i) const {                  // the element with this index, decoded
    return Listpack(bytes_).At(static_cast<size_t>(RawBytes(i).data() - bytes_.data()));
  }
  // Compares the elements 0, stride, 2*stride …, like the function HasEqualElements outside this class.
  bool HasEqualElements(size_t stride, const HashKey& hash_key) const;  // true: two of elements 0, stride … are equal

 private:
  Bytes RawBytes(size_t i) const {  // the i-th element as stored, without its trailing size
    return i < few_.size() ? few_[i] : more_[i - few_.size()];
  }
  void Append(Bytes bytes) {  // adds an element, given as its stored bytes, to few_ or more_
    if (count_ < few_.size()) {
      few_[count_] = bytes;
    } else {
      more_.push_back(bytes);
    }
    ++count_;
  }

  Bytes bytes_;                // the whole listpack
  std::array<Bytes, 64> few_;  // the first elements
  std::vector<Bytes> more_;    // the other elements
  size_t count_ = 0;           // number of elements
  bool is_canonical_ = false;  // true: this server would write the same bytes (IsCanonical)
};

class ListpackMaker {  // builds a listpack; stores each element in its smallest encoding
 public:
  ListpackMaker() : bytes_(kInitialCapacity, '\0') {}

  void Append(const EncodedElement& element);  // appends an element that is already encoded
  void AppendText(Bytes text);                 // appends a text, or an integer if the text is exactly its decimal form
  void AppendInteger(int64_t integer);         // appends an integer in its smallest encoding
  void Append(const PackedElement& element) {  // appends a text or an integer
    return element.is_integer ? AppendInteger(element.integer) : AppendText(element.text);
  }
  // Finish completes the listpack, which stays in this object. Clear then begins another listpack in the same memory.
  // Take completes the listpack and moves the listpack out.
  Bytes Finish();  // writes the header, and returns the listpack
  void Clear() {   // empties the listpack, but keeps the memory for the next
    size_ = Listpack::kHeader;
    count_ = 0;
  }
  std::string Take() {  // completes the listpack and moves it out
    Finish();
    bytes_.resize(size_ + 1);
    return std::move(bytes_);
  }

 private:
  static constexpr size_t kInitialCapacity = 256;  // initial size of bytes_, in bytes

  char* Room(size_t bytes);  // memory for this many more bytes and the end byte, after the content

  std::string bytes_;                // the listpack; the first size_ bytes are in use
  size_t size_ = Listpack::kHeader;  // used bytes of bytes_, without the end byte
  size_t count_ = 0;                 // number of elements
};

std::string MakeListpack(std::span<const PackedElement> elements);  // builds a listpack of these elements

// All integers get the smallest width (2, 4 or 8 bytes) that fits them.
std::string MakeIntset(std::span<const int64_t> integers);  // builds an intset; requires: ascending, no two equal

}  // namespace respite
