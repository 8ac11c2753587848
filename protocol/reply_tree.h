// ReplyTree: a RESP2 or RESP3 reply as a tree, and the incremental parser that makes it from bytes.
//
//   ReplyTreeParser parser;
//   parser.Feed(bytes);
//   while (std::optional<ReplyTree> reply = parser.Next()) …   // nullopt: more bytes are needed, or Failed()
//
// Parsing resumes where it stopped, so a reply in many pieces costs no more than one that arrives whole. A tree owns
// its texts. Streamed aggregates (`$?`, `*?`) are not part of what servers send and count as malformed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

enum class ReplyKind : uint8_t {
  kSimple,     // +
  kError,      // -
  kInteger,    // :
  kBulk,       // $
  kArray,      // *
  kNull,       // $-1 of RESP2 and _ of RESP3
  kNullArray,  // *-1 of RESP2
  kBool,       // #
  kDouble,     // ,
  kBigNumber,  // (
  kBulkError,  // !
  kVerbatim,   // =
  kMap,        // %
  kSet,        // ~
  kPush,       // >
};

struct ReplyTree {
  ReplyKind kind = ReplyKind::kNull;
  std::string text = {};    // of a simple, error, bulk, bulk error, verbatim (without format), double or big number
  std::string format = {};  // of a verbatim: three letters
  int64_t integer = 0;      // of an integer; 0 or 1 of a bool
  double number = 0;        // of a double
  std::vector<ReplyTree> children = {};    // elements; of a map: key, value, key, value …
  std::vector<ReplyTree> attributes = {};  // key, value … of the attribute in front of this reply

  bool IsError() const { return kind == ReplyKind::kError || kind == ReplyKind::kBulkError; }
  bool IsNull() const { return kind == ReplyKind::kNull || kind == ReplyKind::kNullArray; }
  // One line that a person can read: [1, "two", nil, -ERR no, {"k": 3}].
  std::string Readable() const;

  bool operator==(const ReplyTree&) const = default;
};

class ReplyTreeParser {
 public:
  // Aggregates nested deeper than this are refused.
  static constexpr size_t kMaxDepth = 128;

  void Feed(Bytes bytes) { buffer_.append(bytes); }
  // The next whole reply, or nothing when more bytes are needed or the input is malformed.
  std::optional<ReplyTree> Next();

  bool Failed() const { return !error_.empty(); }
  // What is wrong with the input; after that the parser takes nothing any more.
  const std::string& Error() const { return error_; }
  // Bytes that belong to no whole reply yet.
  size_t PendingBytes() const { return buffer_.size() - reply_begin_; }

 private:
  // An aggregate whose elements are not all there.
  struct Open {
    ReplyTree node;
    size_t left;
    bool is_attribute;
  };
  enum class Step : uint8_t { kElement, kOpened, kIncomplete, kFailed };

  Step ReadElement();
  Step ReadLine(char kind, Bytes line);
  Step ReadText(char kind, Bytes line, size_t text_begin);
  Step OpenAggregate(char kind, Bytes line);
  Step Fail(std::string what);
  void Place(ReplyTree node);

  std::string buffer_;
  size_t reply_begin_ = 0;  // of the reply being parsed
  size_t pos_ = 0;          // parsed up to here
  size_t searched_ = 0;     // no line ends before this
  std::vector<Open> open_;
  ReplyTree node_;                     // the element that was read last
  std::vector<ReplyTree> attributes_;  // wait for the element they belong to
  std::optional<ReplyTree> done_;
  std::string error_;
};

}  // namespace respite
