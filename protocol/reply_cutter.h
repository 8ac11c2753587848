// ReplyCutter: finds the beginning and end of the elements of a reply (in RESP or ReplyForm::kBinary), without decoding
// them.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "protocol/reply.h"

namespace respite {

class ReplyCutter {  // splits a reply into its elements, without decoding them
 public:
  // `reply` was written by Reply, and must stay valid while its parts are used.
  ReplyCutter(Bytes reply, ReplyForm form) : reply_(reply), is_binary_(form == ReplyForm::kBinary) {}

  struct Header {   // the start of an element: kind and size
    char kind;      // the letter that RESP uses; 0 at the end of the reply
    int64_t value;  // number of elements, pairs (map, attribute) or bytes (text); negative: null

    bool IsAggregate() const {  // true: an array, set, push or map
      return kind == '*' || kind == '~' || kind == '>' || kind == '%';
    }
    int64_t ElementCount() const {  // number of elements that follow as part of this one
      return !IsAggregate() || value < 0 ? 0 : kind == '%' ? 2 * value : value;
    }
  };
  Header TakeHeader();  // reads the next header, not its text; kind 0: the reply has ended
  Bytes TakeElement();  // reads the next element, with attributes before it and all inside
  Bytes TakenPart() const { return reply_.substr(0, at_); }  // the bytes that were read so far
  Bytes Rest() const { return reply_.substr(at_); }          // the bytes that were not read yet

 private:
  Header TakeBinaryHeader();            // TakeHeader for ReplyForm::kBinary: takes kind and 8 bytes of value
  Header TakeWireHeader();              // TakeHeader if the reply is RESP: takes the line with kind and size
  void SkipText(const Header& header);  // moves past the text of this header, if any

  const Bytes reply_;     // the bytes of the whole reply
  const bool is_binary_;  // true: ReplyForm::kBinary; false: RESP
  size_t at_ = 0;
};

}  // namespace respite
