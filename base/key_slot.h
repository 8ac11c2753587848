// KeySlot: the hash slot of a key in a Redis Cluster: CRC-16/XMODEM of the key, or of its hash tag, modulo 16384.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace respite {

inline constexpr int kSlotCount = 16384;

namespace key_slot_internal {

// Table n contains the CRC-16 remainder that a byte contributes when n bytes follow this byte. So eight bytes can be
// looked up independently of each other ("slicing by 8").
using Crc16Tables = std::array<std::array<uint16_t, 256>, 8>;

constexpr Crc16Tables MakeCrc16Tables() {  // computes the CRC16 tables, at compile time
  constexpr uint32_t kPolynomial = 0x1021;
  Crc16Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte << 8;
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 0x8000) != 0 ? (rest << 1) ^ kPolynomial : rest << 1;
    tables[0][byte] = static_cast<uint16_t>(rest);
  }
  for (size_t n = 1; n < tables.size(); ++n) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint16_t before = tables[n - 1][byte];
      tables[n][byte] = static_cast<uint16_t>((before << 8) ^ tables[0][before >> 8]);
    }
  }
  return tables;
}

inline constexpr Crc16Tables kCrc16Tables = MakeCrc16Tables();

}  // namespace key_slot_internal

// Computes CRC-16/XMODEM. Crc16("123456789") == 0x31c3. Cost: about 2 ns for eight bytes.
constexpr uint16_t Crc16(Bytes data) {
  const auto& tables = key_slot_internal::kCrc16Tables;
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(data[at]); };
  uint16_t crc = 0;
  size_t i = 0;
  for (; i + 8 <= data.size(); i += 8) {
    crc = static_cast<uint16_t>(tables[7][static_cast<uint8_t>((crc >> 8) ^ byte(i))] ^
                                tables[6][static_cast<uint8_t>(crc ^ byte(i + 1))] ^ tables[5][byte(i + 2)] ^
                                tables[4][byte(i + 3)] ^ tables[3][byte(i + 4)] ^ tables[2][byte(i + 5)] ^
                                tables[1][byte(i + 6)] ^ tables[0][byte(i + 7)]);
  }
  for (; i < data.size(); ++i) {
    crc = static_cast<uint16_t>((crc << 8) ^ tables[0][static_cast<uint8_t>((crc >> 8) ^ byte(i))]);
  }
  return crc;
}

// Returns the part of the key that determines its hash slot: the text between the first '{' and the next '}'. Returns
// the whole key if there is no such pair of braces, or if nothing is between them.
constexpr Bytes HashTag(Bytes key) {  // the hashed part of a key: between its first { and the next }, or all
  const size_t open = key.find('{');
  if (open == Bytes::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == Bytes::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

constexpr int KeySlot(Bytes key) {  // the hash slot of a key, 0 to 16383
  return Crc16(HashTag(key)) & (kSlotCount - 1);
}

// Returns the slot if the pattern has no special character (* ? [ \), or if its hash tag ends before the first of
// these. All keys that match then have this slot.
constexpr std::optional<int> PatternSlot(Bytes pattern) {  // slot of all keys that match; nullopt: maybe several slots
  const Bytes plain = pattern.substr(0, pattern.find_first_of("*?[\\"));
  const bool is_text = plain.size() == pattern.size();
  if (is_text || HashTag(plain).size() != plain.size()) return KeySlot(plain);
  return std::nullopt;
}

}  // namespace respite
