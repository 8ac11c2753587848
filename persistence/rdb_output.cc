#include "persistence/rdb_output.h"

#include <bit>
#include <limits>

#include "base/number_text.h"
#include "persistence/lzf.h"

namespace respite {

namespace {

constexpr size_t kLongestInteger = 11;  // "-2147483648"
constexpr size_t kShortestPacked = 21;  // Redis: shorter texts are not worth compressing
constexpr uint64_t kLengths6 = 1u << 6;
constexpr uint64_t kLengths14 = 1u << 14;

}  // namespace

void RdbOutput::Little(uint64_t number, int octets) {
  for (int i = 0; i < octets; ++i) Octet(static_cast<uint8_t>(number >> (8 * i)));
}

void RdbOutput::BigEnd(uint64_t number, int octets) {
  for (int i = octets - 1; i >= 0; --i) Octet(static_cast<uint8_t>(number >> (8 * i)));
}

void RdbOutput::Little16(uint16_t number) { Little(number, 2); }
void RdbOutput::Little64(uint64_t number) { Little(number, 8); }
void RdbOutput::Double(double number) { Little64(std::bit_cast<uint64_t>(number)); }

void RdbOutput::Length(uint64_t length) {
  if (length < kLengths6) {
    Octet(static_cast<uint8_t>(length));
  } else if (length < kLengths14) {
    Octet(static_cast<uint8_t>(rdb::kLength14 | (length >> 8)));
    Octet(static_cast<uint8_t>(length));
  } else if (length <= std::numeric_limits<uint32_t>::max()) {
    Octet(rdb::kLength32);
    BigEnd(length, 4);
  } else {
    Octet(rdb::kLength64);
    BigEnd(length, 8);
  }
}

bool RdbOutput::TryShortInteger(int64_t integer) {
  const int octets = integer == static_cast<int8_t>(integer)    ? 1
                     : integer == static_cast<int16_t>(integer) ? 2
                     : integer == static_cast<int32_t>(integer) ? 4
                                                                : 0;
  if (octets == 0) return false;
  Octet(octets == 1 ? rdb::kInteger8 : octets == 2 ? rdb::kInteger16 : rdb::kInteger32);
  Little(static_cast<uint64_t>(integer), octets);
  return true;
}

bool RdbOutput::TryCompressed(Bytes text) {
  if (compression_ == RdbCompression::kOff || text.size() < kShortestPacked) return false;
  const auto packed = CompressLzf(text);
  if (!packed) return false;
  Octet(rdb::kCompressed);
  Length(packed->size());
  Length(text.size());
  buffer_ += *packed;
  return true;
}

void RdbOutput::Text(Bytes text) {
  if (text.size() <= kLongestInteger) {
    const auto integer = ParseInteger(text);
    if (integer && TryShortInteger(*integer)) return;
  }
  if (TryCompressed(text)) return;
  Length(text.size());
  buffer_ += text;
}

void RdbOutput::Integer(int64_t integer) {
  if (TryShortInteger(integer)) return;
  const IntegerText digits(integer);
  Length(digits.View().size());
  buffer_ += digits.View();
}

}  // namespace respite
