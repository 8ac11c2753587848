// RdbInput: reads the primitives of rdb_format.h from untrusted bytes. The bytes are in memory (a DUMP payload) or
// supplied in pieces (a file).
//
// The first error makes the input fail. From then on every read returns zero or an empty text, and no bytes are left.
// So a reader checks Failed() once after a group of reads, and in every loop whose length was read. A number from the
// input is not trusted: a read fails before it allocates memory for a size that the rest of the input cannot contain,
// even if compressed.
//
// Texts are views. A text that is stored verbatim is a view of the input. Texts are valid until FreeTexts. A reader of
// much data calls FreeTexts regularly, so that earlier data can be freed.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/byte_order.h"
#include "base/bytes.h"
#include "persistence/file_system.h"
#include "persistence/rdb_format.h"

namespace respite {

class RdbText {  // a text from an RDB: a view of memory of the input, or the decimal text of an integer
 public:
  RdbText() = default;
  explicit RdbText(Bytes view) : view_(view) {}
  static RdbText Integer(int32_t integer);  // a text with the decimal digits of the integer

  Bytes View() const { return digit_count_ == 0 ? view_ : Bytes(digits_.data(), digit_count_); }  // the text
  std::optional<int64_t> AsInteger() const {  // the number; nullopt: the text was not stored as an integer
    return digit_count_ == 0 ? std::nullopt : std::optional<int64_t>(integer_);
  }

 private:
  Bytes view_;                   // the text, if it was not stored as an integer
  int32_t integer_ = 0;          // the number, if the text was stored as an integer
  std::array<char, 11> digits_;  // the printed integer; the longest is "-2147483648"
  uint8_t digit_count_ = 0;      // number of digits_ in use; 0: the text is view_
};

class RdbSupply {  // an interface from which an RdbInput gets its bytes, piece by piece
 public:
  virtual ~RdbSupply() = default;
  virtual uint64_t Left() const = 0;  // number of bytes that Next has not returned yet
  // The piece begins with a copy of `rest`, which is the unread end of the previous piece. Requires: wanted <=
  // rest.size() + Left().
  virtual Bytes Next(Bytes rest, uint64_t wanted) = 0;  // the next piece, `wanted` bytes or more; empty: failed
  virtual void FreeOldPieces() = 0;                     // frees all pieces that Next has returned, except the last
  virtual IoError error() const { return kNoError; }    // why Next failed; kNoError: Next has not failed
};

class RdbScratch {  // memory for texts that had to be decompressed; freed by Clear
 public:
  char* Take(size_t bytes);  // returns memory for one text, valid until Clear
  void Clear();              // frees all texts; may keep one block of memory for later texts

 private:
  struct Block {                     // memory for several texts
    std::unique_ptr<char[]> memory;  // the memory of the block
    size_t size;                     // capacity of the block in bytes
  };

  std::vector<Block> blocks_;  // blocks of texts; new texts go to the last one
  size_t used_ = 0;            // used bytes of the last block
};

class RdbInput {  // reads numbers and texts of the RDB format, from untrusted bytes
 public:
  // Reads from `bytes` or from `supply`, which must exist as long as this object.
  explicit RdbInput(Bytes bytes) : rest_(bytes), end_offset_(bytes.size()) {}
  explicit RdbInput(RdbSupply& supply) : supply_(&supply) {}

  bool Failed() const { return failed_; }   // true: a read failed, or Fail was called; later reads return zero or empty
  bool RanOut() const { return ran_out_; }  // true: a read failed because the input has too few bytes
  uint64_t MissingBytes() const { return missing_bytes_; }  // after RanOut: at least this many bytes are missing
  IoError SupplyError() const {  // why the supply could not deliver bytes; kNoError: no I/O error
    return supply_ == nullptr ? kNoError : supply_->error();
  }
  void Fail();  // makes the input fail, for readers that find an error in the data
  uint64_t Left() const { return rest_.size() + (supply_ == nullptr || failed_ ? 0 : supply_->Left()); }
  uint64_t Offset() const { return end_offset_ - rest_.size(); }  // number of bytes read so far
  Bytes Rest() const { return rest_; }                            // the unread part of the current piece
  void FreeTexts() {  // frees the memory of all texts that were read, which become invalid
    if (holds_old_memory_) FreeTextsAndPieces();
  }

  uint8_t Byte() {  // reads one byte
    if (rest_.empty() && !FetchMore(1)) return 0;
    const char byte = rest_.front();
    rest_.remove_prefix(1);
    return static_cast<uint8_t>(byte);
  }
  Bytes RawBytes(uint64_t count) {  // reads `count` bytes; empty on failure
    if (count > rest_.size() && !FetchMore(count)) return {};
    const Bytes bytes(rest_.data(), count);
    rest_.remove_prefix(count);
    return bytes;
  }
  uint64_t Length() { return LengthAfterFirstByte(Byte()); }  // reads a length in the RDB's variable encoding
  // Each element takes at least `min_element_bytes` bytes.
  uint64_t Count(uint64_t min_element_bytes);  // reads a number of elements; fails if the input is too short for them
  RdbText Text() {                             // reads a text in any of its forms
    const uint8_t head = Byte();
    return head < rdb::kLength14 ? RdbText(RawBytes(head)) : TextAfterFirstByte(head);
  }
  // Sets the maximum size of a decompressed text, in bytes. A compressed text that would become larger makes the input
  // fail before memory is allocated, and IsTextTooLong then returns true.
  void SetMaxTextBytes(uint64_t bytes) { max_text_bytes_ = bytes; }  // sets the maximum size of a decompressed text
  bool IsTextTooLong() const { return is_text_too_long_; }           // true: a compressed text exceeded SetMaxTextBytes
  uint16_t Little16() { return Little<uint16_t>(); }                 // reads a little-endian number of 2 bytes
  uint32_t Little32() { return Little<uint32_t>(); }                 // reads a little-endian number of 4 bytes
  uint64_t Little64() { return Little<uint64_t>(); }                 // reads a little-endian number of 8 bytes
  int64_t Millis() { return static_cast<int64_t>(Little64()); }      // reads a Unix time in milliseconds
  float Float();                                                     // reads an IEEE 754 number of 4 bytes
  double Double();                                                   // reads an IEEE 754 number of 8 bytes
  double ScoreText();  // reads a score that is stored as decimal text; fails for NaN

 private:
  template <class Number>
  Number Little() {  // reads a little-endian number
    const Bytes bytes = RawBytes(sizeof(Number));
    return bytes.empty() ? Number{0} : LoadLittle<Number>(bytes.data());
  }
  uint64_t LengthAfterFirstByte(uint8_t first_byte);  // reads the rest of a length, and returns the length
  RdbText TextAfterFirstByte(uint8_t first_byte);     // reads the rest of a text, and returns the text
  RdbText CompressedText();                           // reads and decompresses an LZF text
  bool FetchMore(uint64_t bytes);             // gets input until rest_ has `bytes` bytes; false: the input has failed
  void RecordMissingBytes(uint64_t missing);  // sets ran_out_ and missing_bytes_, unless the input has failed already
  void FreeTextsAndPieces();                  // frees decompressed texts, and all pieces of input but the current

  Bytes rest_;                            // the unread part of the current piece
  uint64_t end_offset_ = 0;               // offset in the input of the end of rest_
  RdbSupply* supply_ = nullptr;           // delivers more bytes; null: all bytes are in rest_
  uint64_t max_text_bytes_ = UINT64_MAX;  // maximum size of a compressed text, after decompression
  bool is_text_too_long_ = false;         // true: a compressed text exceeded max_text_bytes_
  RdbScratch scratch_;                    // holds texts that had to be decompressed
  bool holds_old_memory_ = false;         // true: there are decompressed texts or old pieces of input to free
  bool failed_ = false;                   // true: a read failed, or Fail was called
  bool ran_out_ = false;                  // true: a read failed because the input has too few bytes
  uint64_t missing_bytes_ = 0;            // after ran_out_: at least this many bytes are missing
};

}  // namespace respite
