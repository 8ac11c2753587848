// ReplyCutter: finds the beginning and end of the elements of a reply, in either ReplyForm, without decoding them.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "protocol/reply.h"

namespace respite {

class ReplyCutter {
 public:
  // `reply` was written by Reply, and must stay valid while its parts are used.
  ReplyCutter(Bytes reply, ReplyForm form) : reply_(reply), is_binary_(form == ReplyForm::kBinary) {}

  struct Header {
    char kind;      // the letter that RESP uses; 0 at the end of the reply
    int64_t value;  // elements of an aggregate (pairs of a map), or bytes of a text; negative for null

    bool IsAggregate() const { return kind == '*' || kind == '~' || kind == '>' || kind == '%'; }
    // Returns the number of elements that follow.
    int64_t Elements() const { return !IsAggregate() || value < 0 ? 0 : kind == '%' ? 2 * value : value; }
  };
  // Takes the next header. If it is an aggregate's, its elements follow.
  Header TakeHeader();
  // Takes a whole element with everything in it.
  Bytes TakeElement();
  // Return the parts of the reply before and after the current position.
  Bytes Taken() const { return reply_.substr(0, at_); }
  Bytes Rest() const { return reply_.substr(at_); }

 private:
  Header TakeBinaryHeader();
  Header TakeWireHeader();
  void SkipText(const Header& header);

  const Bytes reply_;
  const bool is_binary_;
  size_t at_ = 0;
};

}  // namespace respite
