// LZF, the compression of texts in RDB files.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace respite {

// Requires: `into` has room for text.size() bytes. Cost: O(n), about 3 ns per byte.
size_t CompressLzf(Bytes text, char* into);  // returns the size after compression; 0: would save less than 4 bytes

// Must be called before memory for the decompressed text is allocated, because `size` may come from a damaged file.
bool IsPossibleLzfSize(uint64_t packed_size, uint64_t size);  // false: packed_size bytes cannot expand to `size` bytes

// Cost: O(size).
bool DecompressLzf(Bytes packed, std::span<char> text);  // fills `text`; false: corrupt, or another size

}  // namespace respite
