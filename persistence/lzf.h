// LZF, the compression of texts in RDB files.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace respite {

// Compresses a text if that saves at least four bytes. Requires: `into` has room for text.size() bytes. Cost: O(n),
// about 3 ns per byte.
size_t CompressLzf(Bytes text, char* into);  // returns the compressed size; 0: saves less than 4 bytes

// Returns false if no text of `size` bytes can be compressed to `packed_size` bytes. Check this before allocating
// memory for the text.
bool IsPossibleLzfSize(uint64_t packed_size, uint64_t size);  // false: too few bytes for `size` bytes of text

// Cost: O(size).
bool DecompressLzf(Bytes packed, std::span<char> text);  // fills `text`; false: corrupt, or another size

}  // namespace respite
