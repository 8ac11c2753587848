// LZF, the compression of long texts in RDB files.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace respite {

// The octets it took, fewer than those of `text` by four at least; 0 when there are not that few. Requires: `into` has
// room for as many octets as `text` has. Cost: O(n), about 3 ns per octet.
size_t CompressLzf(Bytes text, char* into);

// False for sizes that no text can have which takes so many packed octets: for those no memory should be taken.
bool IsPossibleLzfSize(uint64_t packed_size, uint64_t size);

// Fills `text`; false when `packed` does not give just as many octets. Cost: O(size).
bool DecompressLzf(Bytes packed, std::span<char> text);

}  // namespace respite
