// BinaryReplyReader: reads what Reply wrote with ReplyForm::kBinary, for whoever takes a command's reply within this
// process: no digits are printed to be read again.
//
//   part    = kind value [text]     kind: the letter that RESP has for it; value: 8 bytes
//   value   = the number of `:` `,` (a double's bits) and `#`; the elements of `*` `~` `>`, pairs of `%` and `|`;
//             2 or 3 for `_`: null as RESP2 or RESP3 knows it; the length of the text for `+` `-` `$` `=` `(`
//
// Example: the reply `*2 :7 $2 hi` is  '*' 2  ':' 7  '$' 2 "hi".
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace respite {

struct ReplyPart {
  char kind;
  int64_t value;
  Bytes text;

  double Number() const { return std::bit_cast<double>(value); }
};

class BinaryReplyReader {
 public:
  // `reply` must stay where it is while parts of it are used.
  explicit BinaryReplyReader(Bytes reply) : rest_(reply) {}

  bool AtEnd() const { return rest_.empty(); }
  // Requires: !AtEnd(), and that the bytes come from a Reply.
  ReplyPart Next() {
    ReplyPart part{rest_[0], 0, {}};
    std::memcpy(&part.value, rest_.data() + 1, sizeof part.value);
    rest_.remove_prefix(1 + sizeof part.value);
    if (HasText(part.kind)) {
      part.text = rest_.substr(0, static_cast<size_t>(part.value));
      rest_.remove_prefix(part.text.size());
    }
    return part;
  }

 private:
  static bool HasText(char kind) { return kind == '$' || kind == '+' || kind == '-' || kind == '=' || kind == '('; }

  Bytes rest_;
};

}  // namespace respite
