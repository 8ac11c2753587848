// ReplyCutter: finds the beginning and end of the elements of a reply, in either ReplyForm, without decoding them.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "protocol/reply.h"

namespace respite {

class ReplyCutter {  // finds the elements of a reply without decoding them
 public:
  // `reply` was written by Reply, and must stay valid while its parts are used.
  ReplyCutter(Bytes reply, ReplyForm form) : reply_(reply), is_binary_(form == ReplyForm::kBinary) {}

  struct Header {   // the header of an element
    char kind;      // the letter that RESP uses; 0 at the end of the reply
    int64_t value;  // elements of an aggregate (pairs of a map), or bytes of a text; negative for null

    bool IsAggregate() const { return kind == '*' || kind == '~' || kind == '>' || kind == '%'; }
    // Returns the number of elements that follow the header and belong to it.
    int64_t ElementCount() const { return !IsAggregate() || value < 0 ? 0 : kind == '%' ? 2 * value : value; }
  };
  Header TakeHeader();  // takes the next header; if it is an aggregate's, its elements follow
  Bytes TakeElement();  // takes a whole element with everything in it
  // TakenPart and Rest return the parts of the reply before and after the current position.
  Bytes TakenPart() const { return reply_.substr(0, at_); }  // the reply up to the current position
  Bytes Rest() const { return reply_.substr(at_); }

 private:
  Header TakeBinaryHeader();            // TakeHeader, for a reply of form kBinary
  Header TakeWireHeader();              // TakeHeader, for a RESP reply
  void SkipText(const Header& header);  // skips the text after this header, if there is one

  const Bytes reply_;     // the whole reply
  const bool is_binary_;  // the form of the reply is ReplyForm::kBinary, not RESP
  size_t at_ = 0;
};

}  // namespace respite
