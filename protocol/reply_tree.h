// ReplyTree: a RESP2 or RESP3 reply as a tree, with an incremental parser that builds the tree from bytes.
//
//   ReplyTreeParser parser;
//   parser.Feed(bytes);
//   while (std::optional<ReplyTree> reply = parser.Next()) …   // nullopt: more bytes are needed, or Failed()
//
// Parsing resumes where it stopped, so a reply in many pieces costs no more than one that arrives whole. A tree owns
// its texts. Streamed texts and aggregates (`$?`, `*?`) count as malformed, since servers do not send them.
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

struct ReplyTree {  // a parsed reply of another server, with its elements as children
  ReplyKind kind = ReplyKind::kNull;
  std::string text =
      {};  // of a simple string, error, bulk string, bulk error, verbatim (without format), double or big number
  std::string format = {};                 // format of a verbatim string: three letters such as txt
  int64_t integer = 0;                     // value of an integer; 0 or 1 for a bool
  double number = 0;                       // value of a double; 0 for NaN
  std::vector<ReplyTree> children = {};    // elements; for a map: key, value, key, value …
  std::vector<ReplyTree> attributes = {};  // the RESP3 attribute before this reply or element: key, value …

  bool IsError() const { return kind == ReplyKind::kError || kind == ReplyKind::kBulkError; }  // true: an error
  bool IsNull() const { return kind == ReplyKind::kNull || kind == ReplyKind::kNullArray; }    // true: any kind of null
  std::string ReadableText() const;  // the reply on one line, such as [1, "two", nil, -ERR no, {"k": 3}]

  bool operator==(const ReplyTree&) const = default;
};

class ReplyTreeParser {  // parses replies of another server, whose bytes arrive in pieces
 public:
  static constexpr size_t kMaxDepth = 128;  // maximum depth of nested arrays, maps, sets

  void Feed(Bytes bytes) { buffer_.append(bytes); }
  // Returns the next complete reply, or nullopt if more bytes are needed or the input is malformed.
  std::optional<ReplyTree> Next();

  bool Failed() const { return !error_.empty(); }  // true: the input is malformed, and the parser has stopped
  // The parser accepts nothing more after an error.
  const std::string& Error() const { return error_; }                    // why the input is malformed; empty: no error
  size_t PendingBytes() const { return buffer_.size() - reply_begin_; }  // received bytes after the last reply of Next

 private:
  // An array, map, set, push or attribute whose elements have not all arrived.
  struct Open {
    ReplyTree node;     // the array, map, set or push with the elements so far
    size_t left;        // number of elements that have not arrived yet
    bool is_attribute;  // true: these are keys and values of an attribute
  };
  // What ReadElement has read. kElement: a complete element, in node_. kOpened: the header of an array, map, set, push
  // or attribute. kIncomplete: nothing, more bytes are needed. kFailed: malformed input.
  enum class Step : uint8_t { kElement, kOpened, kIncomplete, kFailed };

  Step ReadElement();                                       // reads the next header, number or text
  Step ReadLine(char kind, Bytes line);                     // reads an element that is one line, such as an integer
  Step ReadText(char kind, Bytes line, size_t text_begin);  // reads an element that is a line and a text
  Step OpenAggregate(char kind, Bytes line);                // starts an array, map, set, push or attribute
  Step Fail(std::string what);                              // sets error_
  void AddToParent(ReplyTree node);  // puts a complete element into the innermost aggregate, or makes it the reply

  std::string buffer_;                 // received bytes; those before reply_begin_ are parsed
  size_t reply_begin_ = 0;             // where in buffer_ the current reply begins
  size_t pos_ = 0;                     // end of the parsed bytes
  size_t searched_ = 0;                // buffer_ has no line end between pos_ and this position
  std::vector<Open> open_;             // aggregates with missing elements, the innermost last
  ReplyTree node_;                     // the last element read
  std::vector<ReplyTree> attributes_;  // RESP3 attribute just read, for the next element: key, value …
  std::optional<ReplyTree> done_;      // the complete reply
  std::string error_;                  // why the input is malformed; empty: no error
};

}  // namespace respite
