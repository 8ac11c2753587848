// ChunkBlock: the memory block of a ListChunk. This file describes the two sealed forms of a block, in which elements
// are packed, and the functions that decode one element. list_chunk.h describes the open form.
//
//   texts      header | prefix | alphabet | lengths | symbols | 8 bytes of padding
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

enum class ChunkForm : uint8_t { kOpen, kTexts, kIntegers };

// The header of a chunk's memory block. The data after the header depends on `form`.
struct ChunkBlock {  // the header of a list chunk's memory block; the elements follow
  uint32_t size;     // bytes of the block, including this header
  uint32_t lengths;  // offset of the first length byte in the block (forms kOpen and kTexts)
  uint32_t body;     // where the text area begins, or the packed symbols or differences
  uint32_t begin;    // where the first element is: offset (kOpen), symbol number (kTexts) or index (kIntegers)
  uint32_t end;      // where the last element ends, in the unit of `begin`
  ChunkForm form;
  uint8_t unit;                 // bits of a symbol (texts), or bytes of a difference (integers)
  uint8_t width;                // number of symbols of each text, if all texts have the same number
  uint8_t prefix;               // bytes of the prefix that all texts share (form kTexts)
  bool has_lengths;             // false: all texts have the same length, so the block has no length bytes
  bool may_have_long_elements;  // form kOpen: an element of more than 253 bytes was added; perhaps removed since
  bool is_shortest;             // true: Seal() found no shorter form for this open block, unchanged since then

  const char* At(size_t offset) const { return reinterpret_cast<const char*>(this) + offset; }
  char* At(size_t offset) { return reinterpret_cast<char*>(this) + offset; }
  bool HasLengths() const { return form == ChunkForm::kOpen || has_lengths; }  // true: each element has a length byte
  uint8_t Length(uint32_t index) const {                                       // the length byte of an element
    return static_cast<uint8_t>(*At(lengths + index));
  }
};

// Allocates a block. Requires: size >= sizeof(ChunkBlock). Free it with std::free.
ChunkBlock* AllocateChunkBlock(size_t size);  // allocates a block of this size; free it with std::free

// Packs the elements in the smaller of the two sealed forms. Returns null if an element is longer than 255 bytes, or if
// the texts form is smaller than the integers form but saves nothing compared with an open block of `open_size` bytes.
// Requires: at least one element.
ChunkBlock* CreateSealedBlock(std::span<const Bytes> elements,  // packs the elements; null: would save no memory
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
