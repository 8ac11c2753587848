#include "base/crc64.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/byte_order.h"

namespace respite {

namespace {

constexpr uint64_t kReflectedPolynomial = 0x95ac9329ac4bc9b5;

// Tables of remainders: tables[0][byte] is the remainder (the CRC) of one byte. tables[n][byte] is the remainder of
// this byte followed by n zero bytes.
using Tables = std::array<std::array<uint64_t, 256>, 8>;

constexpr uint64_t ByteRemainder(uint64_t byte) {
  for (int bit = 0; bit < 8; bit++) byte = (byte >> 1) ^ ((byte & 1) != 0 ? kReflectedPolynomial : 0);
  return byte;
}

constexpr Tables MakeTables() {
  Tables tables{};
  for (size_t byte = 0; byte < 256; byte++) tables[0][byte] = ByteRemainder(byte);
  for (size_t zeros = 1; zeros < tables.size(); zeros++) {
    for (size_t byte = 0; byte < 256; byte++) {
      const uint64_t shorter = tables[zeros - 1][byte];
      tables[zeros][byte] = tables[0][shorter & 255] ^ (shorter >> 8);
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint64_t FoldWord(uint64_t word) {
  uint64_t crc = 0;
  for (size_t byte = 0; byte < 8; byte++) crc ^= kTables[7 - byte][(word >> (8 * byte)) & 255];
  return crc;
}

#if defined(__x86_64__)

// Returns the remainder of x^exponent after division by the polynomial, bits reflected.
constexpr uint64_t PowerRemainder(int exponent) {
  uint64_t remainder = uint64_t{1} << 63;
  for (; exponent > 0; --exponent) remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? kReflectedPolynomial : 0);
  return remainder;
}

// The factors that move 16 bytes towards the end of the message by `bits` bits, modulo the polynomial: x^(bits + 64)
// for the first eight bytes, x^bits for the others. PowerRemainder gets exponents that are lower by one, because the
// carry-less product of two reflected numbers is already multiplied by x.
struct Shift {
  uint64_t first;   // for the first eight bytes
  uint64_t second;  // for the second eight bytes
};
constexpr Shift ShiftBy(int bits) { return {PowerRemainder(bits + 63), PowerRemainder(bits - 1)}; }

constexpr size_t kLane = 16;
constexpr size_t kLanes = 4;
constexpr size_t kBlock = kLanes * kLane;

__m128i LoadLane(const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }
__m128i BothOf(const Shift& shift) {
  return _mm_set_epi64x(static_cast<int64_t>(shift.second), static_cast<int64_t>(shift.first));
}

__attribute__((target("pclmul"))) __m128i Moved(__m128i bytes, __m128i shift) {
  return _mm_xor_si128(_mm_clmulepi64_si128(bytes, shift, 0x00), _mm_clmulepi64_si128(bytes, shift, 0x11));
}

// Returns 16 bytes whose CRC, computed from 0, is Crc64(crc, data). Requires: the size of `data` is a multiple of
// kBlock, and not 0.
__attribute__((target("pclmul"))) std::array<char, kLane> Folded(uint64_t crc, Bytes data) {
  static constexpr Shift kByBlock = ShiftBy(kBlock * 8);
  static constexpr Shift kByLane = ShiftBy(kLane * 8);
  const __m128i by_block = BothOf(kByBlock);
  const __m128i by_lane = BothOf(kByLane);
  __m128i lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = LoadLane(data.data() + i * kLane);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_set_epi64x(0, static_cast<int64_t>(crc)));
  for (const char* at = data.data() + kBlock; at != data.data() + data.size(); at += kBlock)
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = _mm_xor_si128(Moved(lanes[i], by_block), LoadLane(at + i * kLane));
  for (size_t i = 1; i < kLanes; ++i) lanes[i] = _mm_xor_si128(Moved(lanes[i - 1], by_lane), lanes[i]);
  std::array<char, kLane> folded;
  std::memcpy(folded.data(), &lanes[kLanes - 1], kLane);
  return folded;
}

#endif

}  // namespace

uint64_t Crc64ByTable(uint64_t crc, Bytes data) {
  for (; data.size() >= 8; data.remove_prefix(8)) {
    crc = FoldWord(crc ^ LoadLittle<uint64_t>(data.data()));
  }
  for (const char c : data) crc = kTables[0][(crc ^ static_cast<unsigned char>(c)) & 255] ^ (crc >> 8);
  return crc;
}

uint64_t Crc64(uint64_t crc, Bytes data) {
#if defined(__x86_64__)
  if (data.size() >= 2 * kBlock && __builtin_cpu_supports("pclmul")) {
    const size_t blocks = data.size() / kBlock * kBlock;
    const auto folded = Folded(crc, data.substr(0, blocks));
    crc = Crc64ByTable(0, {folded.data(), folded.size()});
    data.remove_prefix(blocks);
  }
#endif
  return Crc64ByTable(crc, data);
}

}  // namespace respite
