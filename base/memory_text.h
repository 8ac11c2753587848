// Amounts of memory as people write and read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// The memory values of redis.conf: digits and an optional unit in any case. b = 1, k = 1000, kb = 1024, m, mb, g, gb
// likewise. nullopt: something else. Redis: no digits at all read as 0, too many saturate, and a product beyond 2^64
// wraps.
std::optional<uint64_t> ParseMemory(Bytes text);

// used_memory_human and its siblings: "1023B", "1.00K", "881.26K", "1.50M", "2.00G", T, P; from 2^60 on plain octets
// again.
std::string HumanBytes(uint64_t bytes);

}  // namespace respite
