// LZF, the compression of texts in RDB files.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace respite {

// Returns the compressed size, which is at least four bytes less than `text`, or 0 if that is impossible. Requires:
// `into` has room for text.size() bytes. Cost: O(n), about 3 ns per byte.
size_t CompressLzf(Bytes text, char* into);

// Returns false if no text of this size can have this packed size. Check this before allocating memory for the text.
bool IsPossibleLzfSize(uint64_t packed_size, uint64_t size);

// Fills `text`. Returns false if `packed` does not decompress to exactly its size. Cost: O(size).
bool DecompressLzf(Bytes packed, std::span<char> text);

}  // namespace respite
