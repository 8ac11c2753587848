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

    bool IsAggregate() const {  // true: an array, set, push or map
      return kind == '*' || kind == '~' || kind == '>' || kind == '%';
    }
    // Returns the number of elements that follow the header and belong to it.
    int64_t ElementCount() const {  // number of elements that belong to this header
      return !IsAggregate() || value < 0 ? 0 : kind == '%' ? 2 * value : value;
    }
  };
  Header TakeHeader();  // reads the next header, and moves after it; kind 0: the reply has ended
  Bytes TakeElement();  // reads a whole element with all that it contains
  // TakenPart and Rest return the parts of the reply before and after the current position.
  Bytes TakenPart() const { return reply_.substr(0, at_); }  // the part of the reply that was taken
  Bytes Rest() const { return reply_.substr(at_); }

 private:
  Header TakeBinaryHeader();            // TakeHeader, for a reply in the binary form
  Header TakeWireHeader();              // TakeHeader, for a RESP reply
  void SkipText(const Header& header);  // skips the text after this header, if there is one

  const Bytes reply_;     // the whole reply
  const bool is_binary_;  // true: the reply is in the binary form, not RESP
  size_t at_ = 0;
};

}  // namespace respite
