// LZF, the compression of texts in RDB files.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace respite {

// Requires: `into` has room for text.size() bytes. Cost: O(n), about 3 ns per byte.
size_t CompressLzf(Bytes text, char* into);  // returns the size after compression; 0: would save less than 4 bytes

// Check this before allocating memory for the text.
bool IsPossibleLzfSize(uint64_t packed_size, uint64_t size);  // false: packed_size bytes cannot expand to `size` bytes

// Cost: O(size).
bool DecompressLzf(Bytes packed, std::span<char> text);  // fills `text`; false: corrupt, or another size

}  // namespace respite
