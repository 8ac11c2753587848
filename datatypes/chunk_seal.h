// The sealed forms of a ListChunk: how elements are packed, and how a single element is decoded.
//
//   texts      header | prefix | alphabet | lengths | symbols | 8 bytes of room
//     alphabet  the characters that occur after the prefix, in order: symbol k stands for alphabet[k]. Symbols have
//               `unit` bits (0 to 7), the first in the lowest bits. With 8 bits there is no alphabet: symbols are the
//               characters.
//     lengths   one byte per element: its symbols after the prefix; absent when all elements are equally long
//
//   integers   header | int64 smallest | differences of `unit` bytes, little endian | 8 bytes of room
//
// Example: "user:17" "user:23" "user:31" become the prefix "user:", the alphabet "1237" (2 bits), no lengths, and 12
// bits of symbols.
//
// The room at the end lets the decoder load 8 bytes at a time.
#pragma once

#include <optional>
#include <span>

#include "datatypes/list_chunk.h"

namespace respite {

// Allocates a block. Requires: size >= sizeof(ChunkBlock). Free it with std::free.
ChunkBlock* AllocateChunkBlock(size_t size);

// Returns the smallest block for these elements, or null if packing saves nothing compared with an open block of
// `open_size` bytes. Requires: at least one element.
ChunkBlock* SealedBlock(std::span<const Bytes> elements, size_t open_size);

// UnpackText and UnpackInteger decode one sealed element into `scratch`, which has room for 255 + 7 bytes. Call
// UnpackPrefix once on the same `scratch` before UnpackText.
//   place: the first symbol of the element, or the number of an integer
void UnpackPrefix(const ChunkBlock& block, char* scratch);
Bytes UnpackText(const ChunkBlock& block, uint32_t place, uint32_t symbols, char* scratch);
Bytes UnpackInteger(const ChunkBlock& block, uint32_t place, char* scratch);

}  // namespace respite
