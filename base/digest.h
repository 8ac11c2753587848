// Message digests: SHA-1 (names of scripts, redis.sha1hex, DEBUG DIGEST, idempotent XADD), SHA-256 (ACL passwords, the
// directive hash-seed), XXH3 (the command DIGEST). Also hexadecimal text, and a comparison of secrets.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

std::array<uint8_t, 20> Sha1(Bytes text);
std::array<uint8_t, 32> Sha256(Bytes text);
uint64_t Xxh3(Bytes text);  // XXH3 with 64 bits and no secret; for comparing values, not for security

std::string HexText(std::span<const uint8_t> bytes);  // prints each byte as two lower-case hexadecimal digits

bool ConstantTimeEquals(Bytes a, Bytes b);  // true: equal; the time taken depends only on the sizes

}  // namespace respite
