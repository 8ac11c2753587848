// ReplyCutter: finds where the elements of a reply begin and end, in either form of Reply, without taking them apart.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "protocol/reply.h"

namespace respite {

class ReplyCutter {
 public:
  // `reply` is what Reply has written, and must stay valid while its parts are used.
  ReplyCutter(Bytes reply, ReplyForm form) : reply_(reply), is_binary_(form == ReplyForm::kBinary) {}

  struct Header {
    char kind;      // the letter of RESP; 0: there is nothing more
    int64_t value;  // elements of an aggregate (pairs of a map), bytes of a text; negative: null

    bool IsAggregate() const { return kind == '*' || kind == '~' || kind == '>' || kind == '%'; }
    // Elements that follow.
    int64_t Elements() const { return !IsAggregate() || value < 0 ? 0 : kind == '%' ? 2 * value : value; }
  };
  // The elements of an aggregate come next.
  Header TakeHeader();
  // A whole element with all that it holds.
  Bytes TakeElement();
  // What was taken, and what is left.
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
