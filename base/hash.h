// Seeded hash of a byte string for the tables of the keyspace and the command table.
//
// It multiplies 64-bit words into 128 bits and folds the halves together. The seed is secret and drawn at start-up, so
// a client cannot prepare keys that collide. Cost: about 3 ns for a 16-byte key; O(n) beyond.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace respite {

namespace hash_internal {

__extension__ using Wide = unsigned __int128;

inline uint64_t Fold(uint64_t a, uint64_t b) {
  Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

template <class Word>
inline uint64_t Load(const char* p) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// Odd constants with about as many ones as zeros, from the fractional digits of square roots of primes.
inline constexpr uint64_t kMixA = 0x6a09e667f3bcc909ull;
inline constexpr uint64_t kMixB = 0xbb67ae8584caa73bull;
inline constexpr uint64_t kMixC = 0x3c6ef372fe94f82bull;

}  // namespace hash_internal

inline uint64_t HashBytes(Bytes bytes, uint64_t seed) {
  using namespace hash_internal;
  const char* p = bytes.data();
  size_t n = bytes.size();
  uint64_t state = seed ^ kMixA;
  uint64_t a = 0;
  uint64_t b = 0;
  if (n > 16) {
    size_t left = n;
    for (; left > 16; left -= 16, p += 16) state = Fold(Load<uint64_t>(p) ^ kMixB, Load<uint64_t>(p + 8) ^ state);
    a = Load<uint64_t>(p + left - 16);  // the last 16 bytes, overlapping what was read before
    b = Load<uint64_t>(p + left - 8);
  } else if (n >= 8) {
    a = Load<uint64_t>(p);
    b = Load<uint64_t>(p + n - 8);
  } else if (n >= 4) {
    a = Load<uint32_t>(p);
    b = Load<uint32_t>(p + n - 4);
  } else if (n > 0) {
    a = (Load<uint8_t>(p) << 16) | (Load<uint8_t>(p + n / 2) << 8) | Load<uint8_t>(p + n - 1);
  }
  return Fold(Fold(a ^ kMixB, b ^ state) ^ kMixC, state ^ n);
}

}  // namespace respite
