// Amounts of memory in the form that people write and read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// The memory values of redis.conf: digits and an optional unit in any case. b = 1, k = 1000, kb = 1024; m, mb, g, gb
// likewise. Returns nullopt for anything else. Redis: no digits read as 0, too many digits saturate, and a product
// beyond 2^64 wraps around.
std::optional<uint64_t> ParseMemory(Bytes text);

// The format of used_memory_human and similar fields: "1023B", "1.00K", "881.26K", "1.50M", "2.00G", T, P; from 2^60 on
// plain bytes again.
std::string HumanBytes(uint64_t bytes);

}  // namespace respite
