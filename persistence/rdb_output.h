// RdbOutput: writes the primitives of rdb_format.h into a buffer.
//
// Without an RdbDrain, the buffer grows and contains the whole output (a DUMP payload). With a drain, a full buffer is
// passed to the drain and emptied, so that a data set larger than memory can be written. A text of 32 KB or more goes
// to the drain directly.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "base/byte_order.h"
#include "base/bytes.h"
#include "persistence/rdb_format.h"

namespace respite {

enum class RdbCompression : uint8_t { kOff, kOn };
// k70 is the format that Redis 7.0 reads, without listpacks of sets and without the times at which consumers were
// active.
enum class RdbDialect : uint8_t { k70, k72 };

class RdbDrain {  // an interface: where an RdbOutput sends its full buffers
 public:
  virtual ~RdbDrain() = default;
  virtual void Drain(Bytes bytes) = 0;  // receives the next bytes of the output
};

class RdbOutput {  // writes numbers and texts of the RDB format, through a buffer
 public:
  explicit RdbOutput(RdbCompression compression) : compression_(compression) {}
  // Collects output in a buffer of `capacity` bytes, and gives it to `drain` when the buffer is full. `drain` must
  // outlive this object. The caller must call Flush after the last write.
  RdbOutput(RdbCompression compression, RdbDrain& drain, size_t capacity)
      : compression_(compression), drain_(&drain), buffer_(capacity, '\0') {}

  Bytes BufferedOutput() const { return {buffer_.data(), size_}; }  // output that is still in the buffer
  // Must be called before the first value is written.
  void SetDialect(RdbDialect dialect) { dialect_ = dialect; }  // sets the Redis version that must read the output
  RdbDialect dialect() const { return dialect_; }              // k70: Redis 7.0 must be able to read the output
  std::string TakeBuffer() {  // moves out the whole output; requires: there is no drain
    buffer_.resize(size_);
    return std::move(buffer_);
  }
  void Flush();  // sends the buffer to the drain, and empties the buffer; requires: there is a drain

  void Byte(uint8_t byte) {  // writes one byte
    *Room(1) = static_cast<char>(byte);
    ++size_;
  }
  void RawBytes(Bytes bytes) {  // writes these bytes unchanged
    if (bytes.size() >= kLongTextBytes) return WriteLongBytes(bytes);
    char* const room = Room(bytes.size());
    if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());  // an empty view may have no address
    size_ += bytes.size();
  }
  void Type(rdb::Type type) { Byte(static_cast<uint8_t>(type)); }  // writes the type byte
  void Length(uint64_t length);                                    // writes a length in the RDB's variable encoding
  void Text(Bytes text);          // writes a text: as an integer, compressed, or verbatim
  void Integer(int64_t integer);  // writes an integer's text, in the shortest form of RDB
  void Little16(uint16_t number) { WriteLittleEndian(number); }               // writes 2 bytes, little endian
  void Little64(uint64_t number) { WriteLittleEndian(number); }               // writes 8 bytes, little endian
  void Millis(int64_t unix_ms) { Little64(static_cast<uint64_t>(unix_ms)); }  // writes a Unix time in ms
  void Double(double number);                                                 // writes an IEEE 754 number of 8 bytes

 private:
  static constexpr size_t kLongTextBytes = 32 * 1024;  // texts of this size or more bypass the buffer if a drain exists

  char* Room(size_t bytes) {  // memory for `bytes` more bytes after the output so far
    if (buffer_.size() - size_ < bytes) MakeRoom(bytes);
    return buffer_.data() + size_;
  }
  template <class Number>
  void WriteLittleEndian(Number number) {  // writes all bytes of a number, lowest first
    StoreLittle<Number>(Room(sizeof number), number);
    size_ += sizeof number;
  }
  void MakeRoom(size_t bytes);            // sends the buffer to the drain, or enlarges the buffer
  void WriteLongBytes(Bytes bytes);       // writes bytes that bypass the buffer if there is a drain
  bool TryShortInteger(int64_t integer);  // writes an integer of up to 4 bytes; false: too large, wrote nothing
  bool TryCompressed(Bytes text);         // writes a text compressed with LZF; false: off, or saves too little

  RdbCompression compression_;            // whether texts are compressed if that saves memory (rdbcompression)
  RdbDialect dialect_ = RdbDialect::k72;  // the Redis that must read the output: k70 (7.0) or k72 (7.2)
  RdbDrain* drain_ = nullptr;             // gets each full buffer, which is then reused; null: the buffer grows
  std::string buffer_;                    // output; the first size_ bytes are in use
  size_t size_ = 0;                       // used bytes of buffer_
};

}  // namespace respite
