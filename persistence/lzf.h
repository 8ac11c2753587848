// LZF, the compression of long texts in RDB files.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace respite {

// Returns the compressed size, at least four bytes less than `text`; 0 if that is impossible. Requires: `into` has
// room for as many bytes as `text`. Cost: O(n), about 3 ns per byte.
size_t CompressLzf(Bytes text, char* into);

// False if no text of this size can have this packed size; then no memory should be allocated for it.
bool IsPossibleLzfSize(uint64_t packed_size, uint64_t size);

// Fills `text`. Returns false if `packed` does not decompress to exactly that size. Cost: O(size).
bool DecompressLzf(Bytes packed, std::span<char> text);

}  // namespace respite
