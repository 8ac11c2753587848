// LZF, the compression of long texts in RDB files.
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// Fewer octets than `text` by four at least, or nothing. Cost: O(n), about 3 ns per octet.
std::optional<std::string> CompressLzf(Bytes text);

// The text of `size` octets, or nothing when `packed` does not give just that, which shows before memory is taken.
// Cost: O(size).
std::optional<std::string> DecompressLzf(Bytes packed, uint64_t size);

}  // namespace respite
