#include "persistence/rdb_output.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/byte_order.h"
#include "base/number_text.h"
#include "persistence/lzf.h"

namespace respite {

namespace {

constexpr size_t kLongestInteger = 11;  // "-2147483648"
constexpr size_t kShortestPacked = 21;  // Redis: shorter texts are not compressed
constexpr uint64_t kLengths6 = 1u << 6;
constexpr uint64_t kLengths14 = 1u << 14;
constexpr size_t kLongestLength = 9;
constexpr size_t kFirstCapacity = 64;

// Writes a length and returns its number of bytes.
size_t PutLength(char* at, uint64_t length) {
  if (length < kLengths6) {
    at[0] = static_cast<char>(length);
    return 1;
  }
  if (length < kLengths14) {
    at[0] = static_cast<char>(rdb::kLength14 | (length >> 8));
    at[1] = static_cast<char>(length);
    return 2;
  }
  if (length <= std::numeric_limits<uint32_t>::max()) {
    at[0] = static_cast<char>(rdb::kLength32);
    StoreBig<uint32_t>(at + 1, static_cast<uint32_t>(length));
    return 5;
  }
  at[0] = static_cast<char>(rdb::kLength64);
  StoreBig<uint64_t>(at + 1, length);
  return kLongestLength;
}

}  // namespace

void RdbOutput::Flush() {
  drain_->Drain(BufferedOutput());
  size_ = 0;
}

void RdbOutput::MakeRoom(size_t bytes) {
  if (drain_ != nullptr) Flush();
  if (buffer_.size() - size_ < bytes) buffer_.resize(std::max({kFirstCapacity, 2 * size_, size_ + bytes}));
}

void RdbOutput::WriteLongBytes(Bytes bytes) {
  if (drain_ == nullptr) {
    std::memcpy(Room(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
    return;
  }
  Flush();
  drain_->Drain(bytes);
}

void RdbOutput::Double(double number) { Little64(std::bit_cast<uint64_t>(number)); }

void RdbOutput::Length(uint64_t length) { size_ += PutLength(Room(kLongestLength), length); }

bool RdbOutput::TryShortInteger(int64_t integer) {
  const size_t bytes = integer == static_cast<int8_t>(integer)    ? 1
                       : integer == static_cast<int16_t>(integer) ? 2
                       : integer == static_cast<int32_t>(integer) ? 4
                                                                  : 0;
  if (bytes == 0) return false;
  char* at = Room(1 + sizeof integer);
  at[0] = static_cast<char>(bytes == 1 ? rdb::kInteger8 : bytes == 2 ? rdb::kInteger16 : rdb::kInteger32);
  StoreLittle<int64_t>(at + 1, integer);  // only the first `bytes` bytes are part of the output
  size_ += 1 + bytes;
  return true;
}

// Writes a text compressed. Returns false and writes nothing if compression is off, the text is shorter than
// kShortestPacked, or compression would save less than 4 bytes. The header contains the compressed size, which is not
// known before. So the compressed text is first put after a gap for the longest header, and then moved down to the end
// of the actual header.
bool RdbOutput::TryCompressed(Bytes text) {
  constexpr size_t kLongestHeader = 1 + 2 * kLongestLength;
  if (compression_ == RdbCompression::kOff || text.size() < kShortestPacked) return false;
  char* header = Room(kLongestHeader + text.size());
  char* packed = header + kLongestHeader;
  const size_t packed_size = CompressLzf(text, packed);
  if (packed_size == 0) return false;
  size_t header_size = 1;
  header[0] = static_cast<char>(rdb::kCompressed);
  header_size += PutLength(header + header_size, packed_size);
  header_size += PutLength(header + header_size, text.size());
  std::memmove(header + header_size, packed, packed_size);
  size_ += header_size + packed_size;
  return true;
}

void RdbOutput::Text(Bytes text) {
  if (text.size() <= kLongestInteger) {
    const auto integer = ParseInteger(text);
    if (integer && TryShortInteger(*integer)) return;
  }
  if (TryCompressed(text)) return;
  Length(text.size());
  RawBytes(text);
}

void RdbOutput::Integer(int64_t integer) {
  if (TryShortInteger(integer)) return;
  const IntegerText digits(integer);
  Length(digits.View().size());
  RawBytes(digits.View());
}

}  // namespace respite
