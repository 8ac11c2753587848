// BinaryReplyReader: reads a reply that Reply wrote with ReplyForm::kBinary, for code in this process that uses a
// command's reply. Numbers need not be printed and parsed.
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
  Bytes text;

  double Number() const { return std::bit_cast<double>(value); }  // the double, if the kind is ','
};

class BinaryReplyReader {  // reads a reply in ReplyForm::kBinary, which is for scripts
 public:
  // `reply` must stay valid while its parts are used.
  explicit BinaryReplyReader(Bytes reply) : rest_(reply) {}

  bool AtEnd() const { return rest_.empty(); }  // true: no part is left, or the reply is malformed
  // Returns true if a part announced more than the reply contains, or if Next found no part. Next returns nulls from
  // then on.
  bool Failed() const { return failed_; }  // true: malformed, as a part is missing or cut
  // Returns the next part. Guarantees that the rest of the reply can hold the elements or bytes that the part
  // announces. So the caller may reserve room for them, or loop over them, without a check.
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

  // Returns the minimum number of bytes that follow a part for each unit of its `value`: for each byte of a text, or
  // for each element. Returns 0 if nothing follows parts of this kind.
  static size_t BytesPerUnit(char kind) {  // minimum bytes after a part, per byte or element that it announces
    if (kind == '$' || kind == '+' || kind == '-' || kind == '=' || kind == '(') return 1;
    if (kind == '*' || kind == '~' || kind == '>') return kMinPartBytes;
    return kind == '%' || kind == '|' ? 2 * kMinPartBytes : 0;
  }
  ReplyPart Fail() {
    failed_ = true;
    rest_ = {};
    return {'_', 2, {}};
  }

  Bytes rest_;
  bool failed_ = false;  // true: the bytes are malformed: a part was missing or cut
};

}  // namespace respite
