// Amounts of memory in the form that users write and read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// Parses the memory values of redis.conf: digits and an optional unit in any case. b = 1, k = 1000, kb = 1024, and m,
// mb, g and gb likewise. Returns nullopt for anything else. As in Redis, a text without digits counts as 0, and more
// than 127 digits are an error. A number of 2^64 or more saturates, but a product of 2^64 or more wraps around.
std::optional<uint64_t> ParseMemory(Bytes text);  // reads "64mb", "1g" or "100" as a number of bytes; nullopt: invalid

// Writes "1023B", "1.00K", "881.26K", "1.50M", "2.00G", then T and P. From 2^60 on, writes plain bytes again.
std::string HumanBytes(uint64_t bytes);  // writes bytes as INFO's used_memory_human does: "1.50M"

}  // namespace respite
