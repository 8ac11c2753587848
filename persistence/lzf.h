// LZF, the compression of texts in RDB files.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace respite {

// A compressed text is at least four bytes shorter than the original. Requires: `into` has room for text.size() bytes.
// Cost: O(n), about 3 ns per byte.
size_t CompressLzf(Bytes text, char* into);  // writes to `into`; returns the size, or 0: not 4 bytes shorter

// Returns false if no text of `size` bytes can be compressed to `packed_size` bytes. Check this before allocating
// memory for the text.
bool IsPossibleLzfSize(uint64_t packed_size, uint64_t size);  // `size` bytes could come from this few

// Cost: O(size).
bool DecompressLzf(Bytes packed, std::span<char> text);  // fills `text`; false: not exactly text.size() bytes

}  // namespace respite
