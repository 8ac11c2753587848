// RdbInput: reads the primitives of rdb_format.h from bytes that may be anything.
//
// The first thing that is wrong makes it fail; from then on every read gives zero or nothing, and there is nothing
// left. So a reader checks Failed() once behind a group of reads, and in every loop whose length it has read. A number
// that was read is no promise: memory is taken for what is there, never for what is said to come.
//
// Texts are views of the input where they are stored as they are; they die with the RdbText or the input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/number_text.h"
#include "persistence/rdb_format.h"

namespace respite {

// A text that was read.
class RdbText {
 public:
  RdbText() = default;
  static RdbText Plain(Bytes view) {
    RdbText text;
    text.view_ = view;
    return text;
  }
  static RdbText Integer(int64_t integer) {
    RdbText text;
    text.integer_ = integer;
    text.digits_ = IntegerText(integer);
    text.kind_ = Kind::kInteger;
    return text;
  }
  static RdbText Owned(std::string owned) {
    RdbText text;
    text.owned_ = std::move(owned);
    text.kind_ = Kind::kOwned;
    return text;
  }

  Bytes View() const { return kind_ == Kind::kPlain ? view_ : kind_ == Kind::kOwned ? Bytes(owned_) : digits_.View(); }
  // Set when it was stored as an integer.
  std::optional<int64_t> AsInteger() const {
    return kind_ == Kind::kInteger ? std::optional<int64_t>(integer_) : std::nullopt;
  }

 private:
  enum class Kind : uint8_t { kPlain, kInteger, kOwned };

  Kind kind_ = Kind::kPlain;
  Bytes view_;
  std::string owned_;
  int64_t integer_ = 0;
  IntegerText digits_{0};
};

class RdbInput {
 public:
  // Borrows the bytes.
  explicit RdbInput(Bytes bytes) : rest_(bytes), size_(bytes.size()) {}

  bool Failed() const { return failed_; }
  // For readers that found sense missing in what they read.
  void Fail() {
    failed_ = true;
    rest_ = {};
  }
  size_t Left() const { return rest_.size(); }
  // Octets read so far, until it failed.
  size_t Offset() const { return size_ - rest_.size(); }

  uint8_t Octet();
  Bytes Octets(uint64_t count);
  uint64_t Length();
  // A count of things that take `least_octets` each: fails when there cannot be as many.
  uint64_t Count(uint64_t least_octets);
  RdbText Text();
  uint16_t Little16();
  uint64_t Little64();
  int64_t Millis() { return static_cast<int64_t>(Little64()); }
  double Double();
  // A score as text. NaN fails.
  double ScoreText();

 private:
  uint64_t LengthBehind(uint8_t head);
  uint64_t BigEnd(size_t octets);
  RdbText Compressed();

  Bytes rest_;
  size_t size_;
  bool failed_ = false;
};

}  // namespace respite
