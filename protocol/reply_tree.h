// ReplyTree: a RESP2 or RESP3 reply as a tree, and the incremental parser that builds it from bytes.
//
//   ReplyTreeParser parser;
//   parser.Feed(bytes);
//   while (std::optional<ReplyTree> reply = parser.Next()) …   // nullopt: more bytes are needed, or Failed()
//
// Parsing resumes where it stopped, so a reply in many pieces costs no more than one that arrives whole. A tree owns
// its texts. Servers do not send streamed aggregates (`$?`, `*?`), so they count as malformed.
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
  std::vector<ReplyTree> attributes = {};  // key, value … of the attribute before this reply

  bool IsError() const { return kind == ReplyKind::kError || kind == ReplyKind::kBulkError; }
  bool IsNull() const { return kind == ReplyKind::kNull || kind == ReplyKind::kNullArray; }
  // One readable line: [1, "two", nil, -ERR no, {"k": 3}].
  std::string Readable() const;

  bool operator==(const ReplyTree&) const = default;
};

class ReplyTreeParser {
 public:
  // The parser refuses aggregates that are nested deeper than this.
  static constexpr size_t kMaxDepth = 128;

  void Feed(Bytes bytes) { buffer_.append(bytes); }
  // The next complete reply, or nullopt if more bytes are needed or the input is malformed.
  std::optional<ReplyTree> Next();

  bool Failed() const { return !error_.empty(); }
  // What is wrong with the input. After an error the parser accepts nothing more.
  const std::string& Error() const { return error_; }
  // Bytes that do not belong to a complete reply yet.
  size_t PendingBytes() const { return buffer_.size() - reply_begin_; }

 private:
  // An incomplete aggregate.
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
  size_t reply_begin_ = 0;  // where the current reply begins
  size_t pos_ = 0;          // parsed up to here
  size_t searched_ = 0;     // no line ends before this position
  std::vector<Open> open_;
  ReplyTree node_;                     // the last element read
  std::vector<ReplyTree> attributes_;  // waiting for the element they belong to
  std::optional<ReplyTree> done_;
  std::string error_;
};

}  // namespace respite
