// ChunkBlock: the memory block of a ListChunk. This file describes the two sealed forms of a block, in which elements
// are packed, and the functions that decode one element. list_chunk.h describes the open form.
//
//   texts      header | prefix | alphabet | lengths | symbols | 8 bytes of room
//     alphabet  the characters that occur after the prefix, in order: symbol k stands for alphabet[k]. Symbols have
//               `unit` bits (0 to 7), the first in the lowest bits. With 8 bits there is no alphabet: symbols are the
//               characters.
//     lengths   one byte per element: the number of its symbols after the prefix; absent when all elements are
//               equally long
//
//   integers   header | int64 smallest | differences of `unit` bytes, little endian | 8 bytes of room
//
// Example: "user:17" "user:23" "user:31" become the prefix "user:", the alphabet "1237" (2 bits), no lengths, and 12
// bits of symbols.
//
// The room at the end lets the decoder load 8 bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace respite {

enum class ChunkForm : uint8_t { kOpen, kTexts, kIntegers };

// The header of a chunk's block; the data after it depends on the form.
struct ChunkBlock {  // the start of a list chunk's memory; the packed elements follow
  uint32_t size;     // bytes of the block, including this header
  uint32_t lengths;  // offset of the first length byte (open, texts)
  uint32_t body;     // where the text area begins, or the packed symbols or differences
  uint32_t begin;    // the first text, as an offset (open), a symbol (texts) or a number (integers)
  uint32_t end;      // the end of the last text, in the unit of `begin`
  ChunkForm form;
  uint8_t unit;      // bits of a symbol (texts), or bytes of a difference (integers)
  uint8_t width;     // symbols of each text, when texts have no lengths
  uint8_t prefix;    // length of the common prefix (texts)
  bool has_lengths;  // false when all texts are equally long
  bool has_marks;    // true when some length byte of an open block may be 254 or 255
  bool is_exact;     // true when Seal() found no shorter form than open, and nothing has changed since then

  const char* At(size_t offset) const { return reinterpret_cast<const char*>(this) + offset; }
  char* At(size_t offset) { return reinterpret_cast<char*>(this) + offset; }
  bool HasLengths() const { return form == ChunkForm::kOpen || has_lengths; }  // true: each element has a length byte
  uint8_t Length(uint32_t index) const {                                       // the length byte of an element
    return static_cast<uint8_t>(*At(lengths + index));
  }
};

// Allocates a block. Requires: size >= sizeof(ChunkBlock). Free it with std::free.
ChunkBlock* AllocateChunkBlock(size_t size);  // allocates a block of this size; free it with std::free

// Returns the smallest block for these elements, or null if packing saves nothing compared with an open block of
// `open_size` bytes. Requires: at least one element.
ChunkBlock* CreateSealedBlock(std::span<const Bytes> elements,  // packs the elements; null: that saves nothing
                              size_t open_size);

// UnpackText and UnpackInteger decode one sealed element into `scratch`, which must have room for 255 + 7 bytes. Call
// UnpackPrefix once on the same `scratch` before UnpackText.
//   place    index of the first symbol of the element, or index of the integer
//   symbols  number of symbols of the element, after the common prefix
void UnpackPrefix(const ChunkBlock& block, char* scratch);  // writes the common prefix of the texts to `scratch`
Bytes UnpackText(const ChunkBlock& block, uint32_t place, uint32_t symbols,  // decodes a text; `scratch` has the prefix
                 char* scratch);
Bytes UnpackInteger(const ChunkBlock& block, uint32_t place, char* scratch);  // the text of the integer at `place`

}  // namespace respite
