// RdbOutput: writes the primitives of rdb_format.h into a buffer.
//
// Whoever writes a file empties the buffer now and then (Buffered, Clear); a value is never larger than memory, but a
// data set may be.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "persistence/rdb_format.h"

namespace respite {

enum class RdbCompression : uint8_t { kOff, kOn };

class RdbOutput {
 public:
  explicit RdbOutput(RdbCompression compression) : compression_(compression) {}

  Bytes Buffered() const { return buffer_; }
  void Clear() { buffer_.clear(); }
  std::string TakeBuffer() { return std::move(buffer_); }

  void Octet(uint8_t octet) { buffer_ += static_cast<char>(octet); }
  void Type(rdb::Type type) { Octet(static_cast<uint8_t>(type)); }
  void Length(uint64_t length);
  // In the shortest form: as an integer, compressed (if that is on), or as it is.
  void Text(Bytes text);
  // The text of an integer.
  void Integer(int64_t integer);
  // Numbers of 2 or 8 octets, little end first.
  void Little16(uint16_t number);
  void Little64(uint64_t number);
  void Millis(int64_t at_ms) { Little64(static_cast<uint64_t>(at_ms)); }
  void Double(double number);

 private:
  bool TryShortInteger(int64_t integer);
  bool TryCompressed(Bytes text);
  void Little(uint64_t number, int octets);
  void BigEnd(uint64_t number, int octets);

  RdbCompression compression_;
  std::string buffer_;
};

}  // namespace respite
