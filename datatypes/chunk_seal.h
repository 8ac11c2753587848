// ChunkBlock: the memory block of a ListChunk, which is one piece of a list. This file describes the two sealed forms
// of a block, in which elements are packed, and the functions that decode one element. list_chunk.h describes the open
// form.
//
//   texts      header | prefix | alphabet | lengths | symbols | 8 bytes of padding
//     prefix    the characters with which all elements begin
//     alphabet  the different characters after the prefix, sorted: symbol k stands for alphabet[k]. Each symbol has
//               `unit` bits (0 to 7), and the first symbol has the lowest bits. If `unit` is 8, there is no alphabet:
//               each symbol is the character itself.
//     lengths   one byte per element: the number of its symbols after the prefix; absent if all elements have the same
//               length
//
//   integers   header | int64 smallest | differences of `unit` bytes, little endian | 8 bytes of padding
//
// Example: "user:17" "user:23" "user:31" become the prefix "user:", the alphabet "1237" (2 bits), no lengths, and 12
// bits of symbols.
//
// The padding at the end lets the decoder load 8 bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace respite {

enum class ChunkForm : uint8_t { kOpen, kTexts, kIntegers };  // kOpen: not packed; the other two: sealed

// The data after the header depends on `form`.
struct ChunkBlock {         // the header of a list chunk's memory block; the elements follow
  uint32_t size;            // bytes of the block, including this header
  uint32_t lengths_offset;  // where in the block the length bytes begin; used by kOpen, and by kTexts with has_lengths
  uint32_t body_offset;  // offset of the text area (kOpen), the packed symbols (kTexts) or the differences (kIntegers)
  uint32_t begin;        // where the first element is: offset (kOpen), symbol number (kTexts), index (kIntegers)
  uint32_t end;          // where the last element ends, in the unit of `begin`
  ChunkForm form;
  uint8_t unit;                 // bits of a symbol (texts), or bytes of a difference (integers)
  uint8_t width;                // form kTexts: number of symbols of each text, if all texts have equally many
  uint8_t prefix;               // form kTexts: bytes of the prefix that all texts share
  bool has_lengths;             // form kTexts: each text has a length byte; false: all have the same length
  bool may_have_long_elements;  // form kOpen: an element of more than 253 bytes was added (and perhaps removed since)
  bool is_shortest;  // form kOpen: Seal() found no shorter form; since then, elements were only removed at the ends

  const char* At(size_t offset) const { return reinterpret_cast<const char*>(this) + offset; }
  char* At(size_t offset) { return reinterpret_cast<char*>(this) + offset; }
  bool HasLengths() const { return form == ChunkForm::kOpen || has_lengths; }  // true: each element has a length byte
  uint8_t Length(uint32_t index) const {                                       // the length byte of element `index`
    return static_cast<uint8_t>(*At(lengths_offset + index));
  }
};

// Requires: size >= sizeof(ChunkBlock).
ChunkBlock* AllocateChunkBlock(size_t size);  // allocates a block of `size` bytes; free it with std::free

// Packs the elements as integers if all are integers and the packed texts would not be smaller. Otherwise packs the
// elements as texts if the result is smaller than `open_size` bytes, the size of the open block. Otherwise returns
// null. Also returns null if an element is longer than 255 bytes. Requires: at least one element.
ChunkBlock* CreateSealedBlock(std::span<const Bytes> elements,  // null: not smaller, or an element has over 255 bytes
                              size_t open_size);

// UnpackText and UnpackInteger decode one sealed element into `scratch`, and return a view of `scratch`. (A text that
// is stored as it is needs no decoding, and is returned as a view of the block.) `scratch` must have room for 255
// bytes, the longest element, and 7 more, because characters are stored eight at a time. Before UnpackText, call
// UnpackPrefix once for this `scratch`.
//   place    index in the block of the first symbol of the element (a symbol stands for one character), or index of
//            the integer
//   symbols  number of characters of the element after the common prefix
void UnpackPrefix(const ChunkBlock& block, char* scratch);  // writes the common prefix of the texts to `scratch`
Bytes UnpackText(const ChunkBlock& block, uint32_t place, uint32_t symbols,  // decodes a text; UnpackPrefix comes first
                 char* scratch);
Bytes UnpackInteger(const ChunkBlock& block, uint32_t place, char* scratch);  // the decimal text of the integer `place`

}  // namespace respite
