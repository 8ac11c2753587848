// Message digests (SHA-1 names scripts, SHA-256 hides ACL passwords) and what goes with them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

std::array<uint8_t, 20> Sha1(Bytes text);
std::array<uint8_t, 32> Sha256(Bytes text);

// Two lower-case hexadecimal digits per octet.
std::string HexText(std::span<const uint8_t> octets);

// Equality whose time depends on the sizes only, for secrets.
bool ConstantTimeEquals(Bytes a, Bytes b);

}  // namespace respite
