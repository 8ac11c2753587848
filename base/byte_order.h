// Integers as bytes, little endian or big endian. No address need be aligned. Each template function is one or two
// instructions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/bytes.h"

namespace respite {

template <class Number>
constexpr Number ByteSwapped(Number number) {  // the number with its bytes in reverse order
  static_assert(std::is_integral_v<Number>);
  if constexpr (sizeof number == 8) return static_cast<Number>(__builtin_bswap64(static_cast<uint64_t>(number)));
  if constexpr (sizeof number == 4) return static_cast<Number>(__builtin_bswap32(static_cast<uint32_t>(number)));
  if constexpr (sizeof number == 2) return static_cast<Number>(__builtin_bswap16(static_cast<uint16_t>(number)));
  return number;
}

namespace byte_order_internal {

template <std::endian order, class Number>
constexpr Number Ordered(Number number) {  // converts between this machine's byte order and `order`
  return order == std::endian::native ? number : ByteSwapped(number);
}

template <std::endian order, class Number>
Number Load(const char* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return Ordered<order>(number);
}

template <std::endian order, class Number>
void Store(char* to, Number number) {  // writes a number in the byte order `order`
  number = Ordered<order>(number);
  std::memcpy(to, &number, sizeof number);
}

}  // namespace byte_order_internal

template <class Number>
Number LoadLittle(const char* from) {  // reads sizeof(Number) bytes as a little-endian number
  return byte_order_internal::Load<std::endian::little, Number>(from);
}

template <class Number>
Number LoadBig(const char* from) {  // reads sizeof(Number) bytes as a big-endian number
  return byte_order_internal::Load<std::endian::big, Number>(from);
}

// StoreLittle and StoreBig require that the caller names the type, which says how many bytes are stored:
// StoreLittle<uint32_t>(to, size).
template <class Number>
void StoreLittle(char* to, std::type_identity_t<Number> number) {  // writes a number in little-endian byte order
  byte_order_internal::Store<std::endian::little>(to, number);
}

template <class Number>
void StoreBig(char* to, std::type_identity_t<Number> number) {  // writes a number in big-endian byte order
  byte_order_internal::Store<std::endian::big>(to, number);
}

// Reads the bytes with two or three loads that overlap, because a loop over the bytes would be slower.
inline uint64_t LoadLittle(const char* from, size_t bytes) {  // reads `bytes` (0 to 8) bytes as a little-endian number
  if (bytes >= 4) {
    const uint64_t high = LoadLittle<uint32_t>(from + bytes - 4);
    return LoadLittle<uint32_t>(from) | high << (bytes - 4) * 8;
  }
  if (bytes == 0) return 0;
  const auto byte = [from](size_t at) { return uint64_t{static_cast<uint8_t>(from[at])} << at * 8; };
  return byte(0) | byte(bytes / 2) | byte(bytes - 1);
}

inline void StoreLittle(char* to, uint64_t number, size_t bytes) {  // writes the low `bytes` bytes (0 to 8), low first
  if (bytes >= 4) {
    StoreLittle<uint32_t>(to, static_cast<uint32_t>(number));
    StoreLittle<uint32_t>(to + bytes - 4, static_cast<uint32_t>(number >> (bytes - 4) * 8));
    return;
  }
  if (bytes == 0) return;
  const auto store = [to, number](size_t at) { to[at] = static_cast<char>(number >> at * 8); };
  store(0);
  store(bytes / 2);
  store(bytes - 1);
}

inline uint64_t LoadBig(const char* from, size_t bytes) {  // reads `bytes` (0 to 8) bytes as a big-endian number
  return bytes == 0 ? 0 : ByteSwapped(LoadLittle(from, bytes)) >> (sizeof(uint64_t) - bytes) * 8;
}

// For two texts that differ in their first 8 bytes, the order of the results is the order of the texts. (A missing byte
// and a zero byte count as equal.)
inline uint64_t LoadBigPrefix(Bytes text) {  // the first 8 bytes as a big-endian number; missing bytes count as 0
  return ByteSwapped(LoadLittle(text.data(), std::min<size_t>(text.size(), sizeof(uint64_t))));
}

constexpr int64_t SignExtended(uint64_t number, int bits) {  // reads the lowest 1 to 64 bits as a signed number
  return static_cast<int64_t>(number << (64 - bits)) >> (64 - bits);
}

}  // namespace respite
