#include "persistence/rdb_input.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/byte_order.h"
#include "base/number_text.h"
#include "persistence/lzf.h"

namespace respite {

RdbText RdbText::Integer(int32_t integer) {
  RdbText text;
  const IntegerText digits(integer);
  text.integer_ = integer;
  text.digit_count_ = static_cast<uint8_t>(digits.View().size());
  std::memcpy(text.digits_.data(), digits.View().data(), digits.View().size());
  return text;
}

char* RdbScratch::Take(size_t bytes) {
  constexpr size_t kMinBlock = 16 * 1024;
  if (blocks_.empty() || blocks_.back().size - used_ < bytes) {
    const size_t size = std::max(kMinBlock, bytes);
    blocks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
    used_ = 0;
  }
  used_ += bytes;
  return blocks_.back().memory.get() + used_ - bytes;
}

// Frees all texts. Keeps the first block for the next texts, unless that block is large.
void RdbScratch::Clear() {
  constexpr size_t kMaxKept = 256 * 1024;
  if (blocks_.empty()) return;
  blocks_.resize(blocks_.front().size > kMaxKept ? 0 : 1);
  used_ = 0;
}

void RdbInput::Fail() {
  if (failed_) return;
  failed_ = true;
  end_offset_ = Offset();
  rest_ = {};
}

void RdbInput::RecordMissingBytes(uint64_t missing) {
  if (failed_) return;
  ran_out_ = true;
  missing_bytes_ = missing;
}

bool RdbInput::FetchMore(uint64_t bytes) {
  if (bytes > Left()) {
    RecordMissingBytes(bytes - Left());
  } else if (bytes > rest_.size()) {
    const uint64_t offset = Offset();
    const Bytes piece = supply_->Next(rest_, bytes);
    holds_old_memory_ = true;
    if (piece.size() >= bytes) {
      rest_ = piece;
      end_offset_ = offset + piece.size();
      return true;
    }
  }
  Fail();
  return false;
}

void RdbInput::FreeTextsAndPieces() {
  scratch_.Clear();
  if (supply_ != nullptr) supply_->FreeOldPieces();
  holds_old_memory_ = false;
}

uint64_t RdbInput::LengthAfterFirstByte(uint8_t first_byte) {
  if (first_byte < rdb::kLength14) return first_byte;
  if (first_byte < rdb::kLength32) return uint64_t{first_byte & 63u} << 8 | Byte();
  if (first_byte == rdb::kLength32) return ByteSwapped(Little32());
  if (first_byte == rdb::kLength64) return ByteSwapped(Little64());
  Fail();
  return 0;
}

uint64_t RdbInput::Count(uint64_t min_element_bytes) {
  const uint64_t count = Length();
  if (count <= Left() / min_element_bytes) return count;
  RecordMissingBytes(count - Left() / min_element_bytes);
  Fail();
  return 0;
}

RdbText RdbInput::TextAfterFirstByte(uint8_t first_byte) {
  switch (first_byte) {
    case rdb::kInteger8:
      return RdbText::Integer(static_cast<int8_t>(Byte()));
    case rdb::kInteger16:
      return RdbText::Integer(static_cast<int16_t>(Little16()));
    case rdb::kInteger32:
      return RdbText::Integer(static_cast<int32_t>(Little32()));
    case rdb::kCompressed:
      return CompressedText();
    default:
      return RdbText(RawBytes(LengthAfterFirstByte(first_byte)));
  }
}

RdbText RdbInput::CompressedText() {
  const uint64_t packed_size = Length();
  const uint64_t size = Length();
  const Bytes packed = RawBytes(packed_size);
  is_text_too_long_ = !failed_ && size > max_text_bytes_;
  if (failed_ || is_text_too_long_ || !IsPossibleLzfSize(packed_size, size)) {
    Fail();
    return {};
  }
  char* text = scratch_.Take(size);
  holds_old_memory_ = true;
  if (!DecompressLzf(packed, {text, size})) {
    Fail();
    return {};
  }
  return RdbText(Bytes(text, size));
}

float RdbInput::Float() { return std::bit_cast<float>(Little32()); }

double RdbInput::Double() { return std::bit_cast<double>(Little64()); }

double RdbInput::ScoreText() {
  const uint8_t size = Byte();
  if (size == rdb::kScoreInfinity) return std::numeric_limits<double>::infinity();
  if (size == rdb::kScoreMinusInfinity) return -std::numeric_limits<double>::infinity();
  const auto score = size == rdb::kScoreNan ? std::nullopt : ParseDouble(RawBytes(size));
  if (!score) Fail();
  return score.value_or(0);
}

}  // namespace respite
