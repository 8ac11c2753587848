// BinaryReplyReader: reads a reply that Reply wrote with ReplyForm::kBinary. Code in this process that uses the reply
// of a command needs this form, which saves printing and parsing numbers.
//
//   part    = kind value [text]     kind: the letter that RESP uses; value: 8 bytes
//   value   = the number for `:` `,` (a double's bits) and `#`; the number of elements for `*` `~` `>`, of pairs for
//             `%` and `|`; 2 or 3 for `_`, the null of RESP2 or RESP3; the length of the text for `+` `-` `$` `=` `(`
//
// Example: the reply `*2 :7 $2 hi` is  '*' 2  ':' 7  '$' 2 "hi".
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace respite {

struct ReplyPart {  // one part of a reply: a header, number or text
  char kind;
  int64_t value;  // a number, a count of elements or the length of `text`, as `kind` says
  Bytes text;     // the text of a string, error, verbatim string or big number; else empty

  double Number() const { return std::bit_cast<double>(value); }  // the double, if the kind is ','
};

class BinaryReplyReader {  // reads a reply in binary form (not RESP), as scripts get it: ReplyForm::kBinary
 public:
  // `reply` must stay valid while its parts are used.
  explicit BinaryReplyReader(Bytes reply) : rest_(reply) {}

  bool AtEnd() const { return rest_.empty(); }  // true: no part is left, or the reply is malformed
  // Once the reader has failed, AtEnd() is true, and Next returns a null part.
  bool Failed() const { return failed_; }  // true: a part announced more than follows, or Next found no whole part
  // Returns the next part. Fails (see Failed) if the part announces more elements or bytes than the rest of the reply
  // can hold. So the caller may reserve room for them, or loop over them, without a check.
  ReplyPart Next() {
    if (rest_.size() < kMinPartBytes) return Fail();
    ReplyPart part{rest_[0], 0, {}};
    std::memcpy(&part.value, rest_.data() + 1, sizeof part.value);
    rest_.remove_prefix(kMinPartBytes);
    const size_t unit = BytesPerUnit(part.kind);
    if (unit != 0 && static_cast<uint64_t>(part.value) > rest_.size() / unit) return Fail();
    if (unit == 1) {
      part.text = rest_.substr(0, static_cast<size_t>(part.value));
      rest_.remove_prefix(part.text.size());
    }
    return part;
  }

 private:
  static constexpr size_t kMinPartBytes = 1 + sizeof(int64_t);  // size of a part without a text

  // Returns how many bytes must at least follow for each byte, element or pair that this kind of part announces; 0: the
  // kind announces nothing. Next uses this to refuse a number that is too large for the rest of the reply.
  static size_t BytesPerUnit(char kind) {  // minimum bytes that follow per announced byte, element or pair; 0: none
    if (kind == '$' || kind == '+' || kind == '-' || kind == '=' || kind == '(') return 1;
    if (kind == '*' || kind == '~' || kind == '>') return kMinPartBytes;
    return kind == '%' || kind == '|' ? 2 * kMinPartBytes : 0;
  }
  ReplyPart Fail() {  // makes Failed() true; returns a null
    failed_ = true;
    rest_ = {};
    return {'_', 2, {}};
  }

  Bytes rest_;
  bool failed_ = false;  // true: the reply is malformed (see Failed)
};

}  // namespace respite
