// CRC-64 with the polynomial of D. Jones, as used at the end of RDB files and DUMP payloads. Polynomial
// 0xad93d23594c935a9, bits reflected, initial value 0, no final inversion. Crc64(0, "123456789") == 0xe9c6d914c4b8d9ca.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace respite {

// Continues `crc` over `data`: Crc64(Crc64(0, a), b) == Crc64(0, a + b). Cost: 0.1 ns per byte for 128 bytes or more if
// the processor has carry-less multiplication, otherwise the cost of Crc64ByTable.
uint64_t Crc64(uint64_t crc, Bytes data);

// Cost: under 1 ns per byte (eight bytes per step), 16 KB of tables.
uint64_t Crc64ByTable(uint64_t crc, Bytes data);  // computes Crc64 without special processor instructions

}  // namespace respite
