#include "persistence/rdb_input.h"

#include <bit>
#include <limits>

#include "persistence/lzf.h"

namespace respite {

namespace {

uint64_t LittleNumber(Bytes octets) {
  uint64_t number = 0;
  for (size_t i = octets.size(); i > 0; --i) number = number << 8 | static_cast<uint8_t>(octets[i - 1]);
  return number;
}

}  // namespace

uint8_t RdbInput::Octet() {
  if (rest_.empty()) {
    Fail();
    return 0;
  }
  const char octet = rest_.front();
  rest_.remove_prefix(1);
  return static_cast<uint8_t>(octet);
}

Bytes RdbInput::Octets(uint64_t count) {
  if (count > rest_.size()) {
    Fail();
    return {};
  }
  const Bytes octets = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return octets;
}

uint64_t RdbInput::BigEnd(size_t octets) {
  uint64_t number = 0;
  for (char octet : Octets(octets)) number = number << 8 | static_cast<uint8_t>(octet);
  return number;
}

uint64_t RdbInput::LengthBehind(uint8_t head) {
  if (head < rdb::kLength14) return head;
  if (head < rdb::kLength32) return uint64_t{head & 63u} << 8 | Octet();
  if (head == rdb::kLength32) return BigEnd(4);
  if (head == rdb::kLength64) return BigEnd(8);
  Fail();
  return 0;
}

uint64_t RdbInput::Length() { return LengthBehind(Octet()); }

uint64_t RdbInput::Count(uint64_t least_octets) {
  const uint64_t count = Length();
  if (count <= Left() / least_octets) return count;
  Fail();
  return 0;
}

RdbText RdbInput::Text() {
  const uint8_t head = Octet();
  switch (head) {
    case rdb::kInteger8:
      return RdbText::Integer(static_cast<int8_t>(Octet()));
    case rdb::kInteger16:
      return RdbText::Integer(static_cast<int16_t>(LittleNumber(Octets(2))));
    case rdb::kInteger32:
      return RdbText::Integer(static_cast<int32_t>(LittleNumber(Octets(4))));
    case rdb::kCompressed:
      return Compressed();
    default:
      return RdbText::Plain(Octets(LengthBehind(head)));
  }
}

RdbText RdbInput::Compressed() {
  const uint64_t packed_size = Length();
  const uint64_t size = Length();
  auto text = DecompressLzf(Octets(packed_size), size);
  if (!text) {
    Fail();
    return {};
  }
  return RdbText::Owned(std::move(*text));
}

uint16_t RdbInput::Little16() { return static_cast<uint16_t>(LittleNumber(Octets(2))); }

uint64_t RdbInput::Little64() { return LittleNumber(Octets(8)); }

double RdbInput::Double() { return std::bit_cast<double>(Little64()); }

double RdbInput::ScoreText() {
  const uint8_t size = Octet();
  if (size == rdb::kScoreInfinity) return std::numeric_limits<double>::infinity();
  if (size == rdb::kScoreMinusInfinity) return -std::numeric_limits<double>::infinity();
  const auto score = size == rdb::kScoreNan ? std::nullopt : ParseDouble(Octets(size));
  if (!score) Fail();
  return score.value_or(0);
}

}  // namespace respite
