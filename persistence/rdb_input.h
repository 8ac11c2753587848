// RdbInput: reads the primitives of rdb_format.h from untrusted bytes. The bytes are in memory (a DUMP payload) or
// supplied in pieces (a file).
//
// The first error makes the input fail. From then on every read returns zero or an empty text, and no bytes are left.
// So a reader checks Failed() once after a group of reads, and in every loop whose length was read. A number from the
// input is not trusted: memory is allocated for data that exists, never for an announced size.
//
// Texts are views, of the input if they are stored verbatim. They are valid until Forget. A reader of much data calls
// Forget regularly, so that earlier data can be freed.
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

// A text that was read.
class RdbText {
 public:
  RdbText() = default;
  explicit RdbText(Bytes view) : view_(view) {}
  static RdbText Integer(int32_t integer);

  Bytes View() const { return digit_count_ == 0 ? view_ : Bytes(digits_.data(), digit_count_); }
  // Returns the integer if the text was stored as one.
  std::optional<int64_t> AsInteger() const {
    return digit_count_ == 0 ? std::nullopt : std::optional<int64_t>(integer_);
  }

 private:
  Bytes view_;
  int32_t integer_ = 0;
  std::array<char, 11> digits_;  // "-2147483648"
  uint8_t digit_count_ = 0;
};

// Supplies an RdbInput with bytes, piece by piece.
class RdbSupply {
 public:
  virtual ~RdbSupply() = default;
  // Returns the number of bytes that were not returned yet.
  virtual uint64_t Left() const = 0;
  // Returns the next piece, at least `wanted` bytes. The piece begins with a copy of `rest`, which is the end of the
  // previous piece. Returns an empty piece on failure. Requires: wanted <= rest.size() + Left().
  virtual Bytes Next(Bytes rest, uint64_t wanted) = 0;
  // Frees all pieces except the last.
  virtual void Forget() = 0;
  // Returns why the supply failed.
  virtual IoError error() const { return kNoError; }
};

// Memory for decoded texts, which are valid until Clear.
class RdbScratch {
 public:
  char* Take(size_t bytes);
  void Clear();

 private:
  struct Block {
    std::unique_ptr<char[]> memory;
    size_t size;
  };

  std::vector<Block> blocks_;
  size_t used_ = 0;  // of the last block
};

class RdbInput {
 public:
  // Borrows the bytes or the supply.
  explicit RdbInput(Bytes bytes) : rest_(bytes), end_offset_(bytes.size()) {}
  explicit RdbInput(RdbSupply& supply) : supply_(&supply) {}

  bool Failed() const { return failed_; }
  // Returns true if the input failed because it has fewer bytes than it announces.
  bool RanOut() const { return ran_out_; }
  // Returns a lower limit of the number of missing bytes, if the input ran out.
  uint64_t Missing() const { return missing_; }
  IoError SupplyError() const { return supply_ == nullptr ? kNoError : supply_->error(); }
  // Makes the input fail, for readers that find an error in the data.
  void Fail();
  uint64_t Left() const { return rest_.size() + (supply_ == nullptr || failed_ ? 0 : supply_->Left()); }
  // Returns the number of bytes that were read before the input failed.
  uint64_t Offset() const { return end_offset_ - rest_.size(); }
  // Returns the unread part of the current piece.
  Bytes Rest() const { return rest_; }
  // Invalidates all texts that were read.
  void Forget() {
    if (!made_nothing_) ForgetPieces();
  }

  uint8_t Byte() {
    if (rest_.empty() && !GetMore(1)) return 0;
    const char byte = rest_.front();
    rest_.remove_prefix(1);
    return static_cast<uint8_t>(byte);
  }
  Bytes RawBytes(uint64_t count) {
    if (count > rest_.size() && !GetMore(count)) return {};
    const Bytes bytes(rest_.data(), count);
    rest_.remove_prefix(count);
    return bytes;
  }
  uint64_t Length() { return LengthBehind(Byte()); }
  // Reads a count of elements that take at least `least_bytes` each. Fails if the input is too short.
  uint64_t Count(uint64_t least_bytes);
  RdbText Text() {
    const uint8_t head = Byte();
    return head < rdb::kLength14 ? RdbText(RawBytes(head)) : LongText(head);
  }
  // Makes a longer compressed text fail, before memory is allocated for it; IsTextTooLong then returns true.
  void LimitTexts(uint64_t bytes) { longest_text_ = bytes; }
  bool IsTextTooLong() const { return is_text_too_long_; }
  uint16_t Little16() { return Little<uint16_t>(); }
  uint32_t Little32() { return Little<uint32_t>(); }
  uint64_t Little64() { return Little<uint64_t>(); }
  int64_t Millis() { return static_cast<int64_t>(Little64()); }
  float Float();
  double Double();
  // Reads a score as text. Fails for NaN.
  double ScoreText();

 private:
  template <class Number>
  Number Little() {
    const Bytes bytes = RawBytes(sizeof(Number));
    return bytes.empty() ? Number{0} : LoadLittle<Number>(bytes.data());
  }
  uint64_t LengthBehind(uint8_t head);
  RdbText LongText(uint8_t head);
  RdbText Compressed();
  // Makes rest_ contain at least `bytes` bytes. Fails and returns false if there are fewer.
  bool GetMore(uint64_t bytes);
  void RunOut(uint64_t missing);
  void ForgetPieces();

  Bytes rest_;
  uint64_t end_offset_ = 0;  // end of rest_
  RdbSupply* supply_ = nullptr;
  uint64_t longest_text_ = UINT64_MAX;
  bool is_text_too_long_ = false;
  RdbScratch scratch_;
  bool made_nothing_ = true;  // there is nothing to forget
  bool failed_ = false;
  bool ran_out_ = false;
  uint64_t missing_ = 0;
};

}  // namespace respite
