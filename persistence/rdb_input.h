// RdbInput: reads the primitives of rdb_format.h from untrusted bytes. The bytes are in memory (a DUMP payload) or
// supplied in pieces (a file).
//
// The first error makes the input fail. From then on every read returns zero or an empty text, and no bytes are left.
// So a reader checks Failed() once after a group of reads, and in every loop whose length was read. A number from the
// input is not trusted. Before memory is allocated for an announced size, the input must have enough bytes for that
// size; compression is taken into account.
//
// Texts are views. A text that is stored verbatim is a view of the input. Texts are valid until Forget. A reader of
// much data calls Forget regularly, so that earlier data can be freed.
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

class RdbText {  // a text read from an RDB: a view of the input or of decoded memory
 public:
  RdbText() = default;
  explicit RdbText(Bytes view) : view_(view) {}
  static RdbText Integer(int32_t integer);  // makes the text of an integer

  Bytes View() const { return digit_count_ == 0 ? view_ : Bytes(digits_.data(), digit_count_); }  // the text
  std::optional<int64_t> AsInteger() const {  // the value; nullopt: not stored as an integer
    return digit_count_ == 0 ? std::nullopt : std::optional<int64_t>(integer_);
  }

 private:
  Bytes view_;                   // the text, if it was not stored as an integer
  int32_t integer_ = 0;          // the value, if digit_count_ is not 0
  std::array<char, 11> digits_;  // the text of integer_: "-2147483648"
  uint8_t digit_count_ = 0;      // 0: the text is view_, not an integer
};

class RdbSupply {  // gives an RdbInput its bytes, piece by piece
 public:
  virtual ~RdbSupply() = default;
  // Returns the number of bytes that Next has not returned yet.
  virtual uint64_t Left() const = 0;  // number of bytes that Next has not returned yet
  // Returns the next piece, at least `wanted` bytes. The piece begins with a copy of `rest`, which is the unread end of
  // the previous piece. Returns an empty piece on failure. Requires: wanted <= rest.size() + Left().
  virtual Bytes Next(Bytes rest, uint64_t wanted) = 0;  // `rest` and more, `wanted` bytes at least; empty: failed
  virtual void FreeOldPieces() = 0;                     // frees all pieces that Next returned, except the last
  virtual IoError error() const { return kNoError; }    // why Next failed; kNoError: it did not
};

class RdbScratch {  // memory for decoded texts, which are valid until Clear
 public:
  char* Take(size_t bytes);  // memory for one text, valid until Clear
  void Clear();              // frees all texts

 private:
  struct Block {                     // an allocation that holds several texts
    std::unique_ptr<char[]> memory;  // the bytes of the block
    size_t size;                     // capacity of the block in bytes
  };

  std::vector<Block> blocks_;  // new texts are added to the last block
  size_t used_ = 0;            // used bytes of the last block
};

class RdbInput {  // reads the numbers and texts of the RDB format from untrusted bytes
 public:
  // The first constructor borrows the bytes, the second borrows the supply.
  explicit RdbInput(Bytes bytes) : rest_(bytes), end_offset_(bytes.size()) {}
  explicit RdbInput(RdbSupply& supply) : supply_(&supply) {}

  bool Failed() const { return failed_; }   // a read has failed or Fail was called: all later reads give zero or empty
  bool RanOut() const { return ran_out_; }  // true: a read failed because bytes are missing
  uint64_t MissingBytes() const { return missing_; }  // minimum number of missing bytes, if RanOut
  IoError SupplyError() const {                       // why the supply could not read more bytes; kNoError: it could
    return supply_ == nullptr ? kNoError : supply_->error();
  }
  // Makes the input fail, for readers that find an error in the data.
  void Fail();  // makes the input fail, for readers that find an error in the data
  uint64_t Left() const { return rest_.size() + (supply_ == nullptr || failed_ ? 0 : supply_->Left()); }
  uint64_t Offset() const { return end_offset_ - rest_.size(); }  // number of bytes read before any failure
  // Returns the unread part of the current piece.
  Bytes Rest() const { return rest_; }  // the unread part of the current piece
  void Forget() {                       // invalidates all texts that were read, and frees their memory
    if (!has_nothing_to_free_) FreeTextsAndPieces();
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
  // Reads a number of elements, each of which takes at least `min_element_bytes`. Fails if the input is too short for
  // them.
  uint64_t Count(uint64_t min_element_bytes);  // reads a number of elements; fails if the input is too short for them
  RdbText Text() {                             // reads a text in any of its forms
    const uint8_t head = Byte();
    return head < rdb::kLength14 ? RdbText(RawBytes(head)) : TextAfterFirstByte(head);
  }
  // Limits the size of a compressed text after decompression. A longer text makes the input fail before memory is
  // allocated. IsTextTooLong then returns true.
  void SetMaxTextBytes(uint64_t bytes) { max_text_bytes_ = bytes; }  // limits a compressed text after decompression
  bool IsTextTooLong() const { return is_text_too_long_; }           // a compressed text exceeded SetMaxTextBytes
  uint16_t Little16() { return Little<uint16_t>(); }                 // reads a little-endian number
  uint32_t Little32() { return Little<uint32_t>(); }                 // reads a little-endian number
  uint64_t Little64() { return Little<uint64_t>(); }                 // reads a little-endian number
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
  uint64_t LengthAfterFirstByte(uint8_t first_byte);  // reads the rest of a length after its first byte
  RdbText TextAfterFirstByte(uint8_t first_byte);     // reads the rest of any text after its first byte
  RdbText CompressedText();                           // reads and decompresses an LZF text after its first byte
  bool FetchMore(uint64_t bytes);             // makes rest_ contain at least `bytes` bytes; false: there are fewer
  void RecordMissingBytes(uint64_t missing);  // the first time, sets ran_out_ and missing_
  void FreeTextsAndPieces();                  // frees the decoded texts, and all pieces but the current one

  Bytes rest_;                            // the unread part of the current piece
  uint64_t end_offset_ = 0;               // position in the input where rest_ ends
  RdbSupply* supply_ = nullptr;           // null: all bytes are in memory
  uint64_t max_text_bytes_ = UINT64_MAX;  // maximum decompressed size of a compressed text
  bool is_text_too_long_ = false;         // the input failed because of max_text_bytes_
  RdbScratch scratch_;                    // decoded texts
  bool has_nothing_to_free_ = true;       // no text or piece waits to be freed
  bool failed_ = false;                   // a read has failed, or Fail was called
  bool ran_out_ = false;                  // the input failed because bytes are missing
  uint64_t missing_ = 0;                  // minimum number of missing bytes, if ran_out_
};

}  // namespace respite
