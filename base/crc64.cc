#include "base/crc64.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace respite {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kReflectedPolynomial = 0x95ac9329ac4bc9b5;

// tables[0][octet] is the remainder of an octet; tables[n][octet] that of the octet followed by n zero octets.
using Tables = std::array<std::array<uint64_t, 256>, 8>;

constexpr uint64_t OctetRemainder(uint64_t octet) {
  for (int bit = 0; bit < 8; bit++) octet = (octet >> 1) ^ ((octet & 1) != 0 ? kReflectedPolynomial : 0);
  return octet;
}

constexpr Tables MakeTables() {
  Tables tables{};
  for (size_t octet = 0; octet < 256; octet++) tables[0][octet] = OctetRemainder(octet);
  for (size_t zeros = 1; zeros < tables.size(); zeros++) {
    for (size_t octet = 0; octet < 256; octet++) {
      const uint64_t shorter = tables[zeros - 1][octet];
      tables[zeros][octet] = tables[0][shorter & 255] ^ (shorter >> 8);
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint64_t FoldWord(uint64_t word) {
  uint64_t crc = 0;
  for (size_t octet = 0; octet < 8; octet++) crc ^= kTables[7 - octet][(word >> (8 * octet)) & 255];
  return crc;
}

}  // namespace

uint64_t Crc64(uint64_t crc, Bytes data) {
  for (; data.size() >= 8; data.remove_prefix(8)) {
    uint64_t word = 0;
    std::memcpy(&word, data.data(), sizeof word);
    crc = FoldWord(crc ^ word);
  }
  for (const char c : data) crc = kTables[0][(crc ^ static_cast<unsigned char>(c)) & 255] ^ (crc >> 8);
  return crc;
}

}  // namespace respite
