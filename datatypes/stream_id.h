// StreamId: the ID of a stream entry. An ID consists of a time in milliseconds and a sequence number within the
// millisecond. Entries of a stream are ordered by their IDs.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

struct StreamId {  // the ID of a stream entry: milliseconds and sequence number
  uint64_t ms = 0;
  uint64_t seq = 0;

  static constexpr StreamId Min() { return {0, 0}; }
  static constexpr StreamId Max() { return {UINT64_MAX, UINT64_MAX}; }

  // NOLINTNEXTLINE(modernize-use-nullptr): the check misreads the code that the compiler generates for this line
  friend constexpr auto operator<=>(const StreamId&, const StreamId&) = default;
  constexpr bool IsZero() const { return ms == 0 && seq == 0; }  // true: the ID is 0-0

  std::optional<StreamId> Next() const;      // the next higher ID; nullopt: this is Max()
  std::optional<StreamId> Previous() const;  // the next lower ID; nullopt: this is Min()

  std::array<char, 16> RawBytes() const;  // ms, then seq, both big endian; the bytes sort like the IDs
  // Requires: 16 bytes.
  static StreamId FromBytes(Bytes bytes);  // makes an ID from its RawBytes
};

// The text of an ID, "ms-seq", stored in the object itself. The result of View() is valid as long as the object exists.
class StreamIdText {  // a stream ID as text: "ms-seq"
 public:
  // DEBUG DIGEST uses a dot as the `separator`.
  explicit StreamIdText(const StreamId& id, char separator = '-');
  operator Bytes() const { return View(); }  // NOLINT(google-explicit-constructor): it is a text
  Bytes View() const { return {text_.data(), size_}; }
  std::string Text() const { return std::string(View()); }

 private:
  std::array<char, 41> text_;  // 20 digits, separator, 20 digits
  uint8_t size_;
};

// An ID as clients write it.
//   ms-seq   kGiven
//   ms       kMissing: the context determines the sequence number
//   ms-*     kAutomatic
struct ParsedStreamId {  // a stream ID as a client wrote it: ms-seq, ms or ms-*
  enum class Sequence : uint8_t { kGiven, kMissing, kAutomatic };
  StreamId id;                           // seq is 0 unless given
  Sequence sequence = Sequence::kGiven;  // whether the sequence number was given, missing or `*`

  StreamId WithDefaultSequence(uint64_t seq) const {  // the ID; a missing sequence number becomes `seq`
    return sequence == Sequence::kMissing ? StreamId{id.ms, seq} : id;
  }
};

// Parses an ID; returns nullopt if the text is not an ID. The commands handle "-", "+", "$" and ">" themselves, and
// decide whether they accept kAutomatic. As in Redis, blanks, a plus sign and zeros may precede the digits of a number,
// and the text ends at the first NUL.
std::optional<ParsedStreamId> ParseStreamId(Bytes text);  // reads "ms-seq", "ms" or "ms-*"; nullopt: not an ID

}  // namespace respite
