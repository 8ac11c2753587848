// KeySlot: the hash slot of a key in a Redis Cluster: CRC-16/XMODEM of the key, or of its hash tag, modulo 16384.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace respite {

inline constexpr int kSlotCount = 16384;

namespace key_slot_internal {

constexpr std::array<uint16_t, 256> MakeCrc16Table() {
  constexpr uint32_t kPolynomial = 0x1021;
  std::array<uint16_t, 256> table{};
  for (uint32_t octet = 0; octet < table.size(); ++octet) {
    uint32_t rest = octet << 8;
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 0x8000) != 0 ? (rest << 1) ^ kPolynomial : rest << 1;
    table[octet] = static_cast<uint16_t>(rest);
  }
  return table;
}

inline constexpr auto kCrc16Table = MakeCrc16Table();

}  // namespace key_slot_internal

// Crc16("123456789") == 0x31c3. Cost: about 1 ns per octet.
constexpr uint16_t Crc16(Bytes data) {
  uint16_t crc = 0;
  for (const char c : data) {
    const auto index = static_cast<uint8_t>((crc >> 8) ^ static_cast<uint8_t>(c));
    crc = static_cast<uint16_t>((crc << 8) ^ key_slot_internal::kCrc16Table[index]);
  }
  return crc;
}

// The part of a key that decides about its slot: what stands between the first '{' and the first '}' behind it, or the
// whole key if there is no such pair or nothing between them.
constexpr Bytes HashTag(Bytes key) {
  const size_t open = key.find('{');
  if (open == Bytes::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == Bytes::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

constexpr int KeySlot(Bytes key) { return Crc16(HashTag(key)) & (kSlotCount - 1); }

}  // namespace respite
