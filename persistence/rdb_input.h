// RdbInput: reads the primitives of rdb_format.h from bytes that may be anything, all there at once (a DUMP payload) or
// supplied in pieces (a file).
//
// The first thing that is wrong makes it fail; from then on every read gives zero or nothing, and there is nothing
// left. So a reader checks Failed() once behind a group of reads, and in every loop whose length it has read. A number
// that was read is no promise: memory is taken for what is there, never for what is said to come.
//
// Texts are views, of the input where they are stored as they are. They are good until Forget, which whoever reads many
// calls now and then: what was read before can then be freed.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "persistence/rdb_format.h"

namespace respite {

// A text that was read.
class RdbText {
 public:
  RdbText() = default;
  explicit RdbText(Bytes view) : view_(view) {}
  static RdbText Integer(int32_t integer);

  Bytes View() const { return digit_count_ == 0 ? view_ : Bytes(digits_.data(), digit_count_); }
  // Set when it was stored as an integer.
  std::optional<int64_t> AsInteger() const {
    return digit_count_ == 0 ? std::nullopt : std::optional<int64_t>(integer_);
  }

 private:
  Bytes view_;
  int32_t integer_ = 0;
  std::array<char, 11> digits_;  // "-2147483648"
  uint8_t digit_count_ = 0;
};

// What an RdbInput gets its octets from, piece by piece.
class RdbSupply {
 public:
  virtual ~RdbSupply() = default;
  // Octets that have not been handed out.
  virtual uint64_t Left() const = 0;
  // The next piece: `rest`, which is the end of the one before, and behind it so many that there are `wanted` at least.
  // Nothing when that fails. Requires: wanted <= rest.size() + Left().
  virtual Bytes Next(Bytes rest, uint64_t wanted) = 0;
  // All pieces but the last may go.
  virtual void Forget() = 0;
};

// Memory for texts that must be made, until Clear.
class RdbScratch {
 public:
  char* Take(size_t octets);
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
  // Whether it failed since there was less than was said to be.
  bool RanOut() const { return ran_out_; }
  // For readers that found sense missing in what they read.
  void Fail();
  uint64_t Left() const { return rest_.size() + (supply_ == nullptr || failed_ ? 0 : supply_->Left()); }
  // Octets read so far, until it failed.
  uint64_t Offset() const { return end_offset_ - rest_.size(); }
  // What can be read of the piece that is at hand.
  Bytes Rest() const { return rest_; }
  // Texts that were read are not needed any more.
  void Forget() {
    if (!made_nothing_) ForgetPieces();
  }

  uint8_t Octet() {
    if (rest_.empty() && !GetMore(1)) return 0;
    const char octet = rest_.front();
    rest_.remove_prefix(1);
    return static_cast<uint8_t>(octet);
  }
  Bytes Octets(uint64_t count) {
    if (count > rest_.size() && !GetMore(count)) return {};
    const Bytes octets(rest_.data(), count);
    rest_.remove_prefix(count);
    return octets;
  }
  uint64_t Length() { return LengthBehind(Octet()); }
  // A count of things that take `least_octets` each: fails when there cannot be as many.
  uint64_t Count(uint64_t least_octets);
  RdbText Text() {
    const uint8_t head = Octet();
    return head < rdb::kLength14 ? RdbText(Octets(head)) : LongText(head);
  }
  uint16_t Little16() { return Little<uint16_t>(); }
  uint32_t Little32() { return Little<uint32_t>(); }
  uint64_t Little64() { return Little<uint64_t>(); }
  int64_t Millis() { return static_cast<int64_t>(Little64()); }
  float Float();
  double Double();
  // A score as text. NaN fails.
  double ScoreText();

 private:
  template <class Number>
  Number Little() {
    Number number{};
    const Bytes octets = Octets(sizeof number);
    if (!octets.empty()) std::memcpy(&number, octets.data(), sizeof number);
    return number;
  }
  uint64_t LengthBehind(uint8_t head);
  RdbText LongText(uint8_t head);
  RdbText Compressed();
  // Makes rest_ hold that many; false and failed when there are not as many.
  bool GetMore(uint64_t octets);
  void ForgetPieces();

  Bytes rest_;
  uint64_t end_offset_ = 0;  // of what rest_ has
  RdbSupply* supply_ = nullptr;
  RdbScratch scratch_;
  bool made_nothing_ = true;  // nothing to forget
  bool failed_ = false;
  bool ran_out_ = false;
};

}  // namespace respite
