// Member: a text in a handle of 8 bytes, for a HashIndex, whose slots are such handles.
//
//   short, up to 7 bytes   | size * 2 + 1 | text …             |    in the handle itself
//   long                    pointer (even) to | size, 7 bits per byte, least significant first | text … |
//
// So a set of a million short texts needs no memory except the table of the HashIndex. The handle owns no memory: the
// owner of the table frees each member with Destroy. Two handles are equal if both refer to one long text in memory, or
// if both are short and have equal texts.
#pragma once

#include <malloc.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/bytes.h"
#include "base/out_of_memory.h"

namespace respite {

class Member {  // a handle of 8 bytes for a set member: a short text, or a pointer to a long one
 public:
  static constexpr size_t kShortMax = 7;  // bytes; a longer text is in memory of its own

  // The default handle stands for no member.
  Member() = default;

  // Allocates memory if the text is longer than kShortMax bytes.
  static Member Create(Bytes text) {  // stores the text in the handle, or in new memory; free with Destroy
    Member member;
    if (text.size() > kShortMax) {
      member.word_ = reinterpret_cast<uintptr_t>(NewBlock(text));
      return member;
    }
    if (!text.empty()) std::memcpy(reinterpret_cast<char*>(&member.word_) + 1, text.data(), text.size());
    member.word_ |= text.size() * 2 + 1;  // the byte at the lowest address
    return member;
  }
  static void Destroy(Member member) {  // frees the memory of a long text; does nothing for a short text
    if (!member.IsShort()) std::free(member.Block());
  }

  explicit operator bool() const { return word_ != 0; }
  bool operator==(const Member& other) const { return word_ == other.word_; }
  bool IsShort() const { return (word_ & 1) != 0; }  // true: the text is in the handle itself
  // Returns the text, as a view of the handle itself (short) or of the block of a long text. Requires: not Member{}.
  Bytes Text() const {
    if (IsShort()) return {reinterpret_cast<const char*>(&word_) + 1, static_cast<size_t>((word_ & 255) >> 1)};
    const char* at = Block();
    size_t size = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(*at++);
      size |= size_t{byte & 127u} << shift;
      if (byte < 128) return {at, size};
    }
  }
  // HashIndex prefetches this memory before it reads the text.
  const void* Memory() const { return IsShort() ? nullptr : Block(); }  // the memory of a long text; null: a short one
  size_t UsedBytes() const { return IsShort() ? 0 : malloc_usable_size(Block()); }  // bytes outside the handle
  uint64_t Identity() const { return word_; }      // equal for handles of one long text, or for equal short texts
  static Member FromIdentity(uint64_t identity) {  // the member that has this Identity()
    Member member;
    member.word_ = identity;
    return member;
  }

 private:
  static char* NewBlock(Bytes text) {  // allocates memory for a long text, and stores size and bytes
    size_t size_bytes = 1;
    for (size_t rest = text.size() >> 7; rest != 0; rest >>= 7) ++size_bytes;
    auto* block = static_cast<char*>(AllocateOrEnd(size_bytes + text.size()));
    size_t rest = text.size();
    for (size_t i = 0; i < size_bytes; ++i, rest >>= 7)
      block[i] = static_cast<char>((rest & 127) | (i + 1 < size_bytes ? 128 : 0));
    std::memcpy(block + size_bytes, text.data(), text.size());
    return block;
  }
  char* Block() const { return reinterpret_cast<char*>(word_); }  // the memory of a long text: size, then bytes

  uint64_t word_ = 0;
};
static_assert(sizeof(Member) == 8 && std::endian::native == std::endian::little);

inline Bytes SlotKey(const Member& member) { return member.Text(); }  // the key for HashIndex: the member's text
inline const void* SlotMemory(const Member& member) { return member.Memory(); }  // what HashIndex prefetches; or null

}  // namespace respite
