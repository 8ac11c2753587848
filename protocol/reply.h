// Reply: writes RESP2 or RESP3 into a ReplyBuffer.
//
// Command handlers specify the kind of reply (a map, a double, null); the client's protocol version decides the form.
// Under RESP2 a map is a flat array, a double is a bulk string, a bool is 0 or 1, and null is a null bulk string
// (NullArray: a null array).
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/number_text.h"
#include "protocol/reply_buffer.h"

namespace respite {

enum class RespVersion : uint8_t { kResp2 = 2, kResp3 = 3 };

// The form of a reply: RESP for a peer, or binary numbers for a reader in this process (BinaryReplyReader).
enum class ReplyForm : uint8_t { kWire, kBinary };

class Reply {  // writes a command's reply, in RESP2 or RESP3, to a ReplyBuffer
 public:
  Reply(ReplyBuffer& out, RespVersion version, ReplyForm form = ReplyForm::kWire)
      : out_(&out), version_(version), form_(form) {}

  bool IsResp3() const { return version_ == RespVersion::kResp3; }  // true: the reply is written in RESP3
  // Returns the number of bytes in the buffer, including those of earlier replies.
  size_t Size() const { return out_->Size(); }

  void Ok() { IsBinary() ? BinaryText('+', "OK") : out_->Append("+OK\r\n"); }
  void Simple(Bytes text);  // writes a simple string ("+…")
  // Example of `text`: "ERR syntax error". As in Redis, line ends in `text` become spaces.
  void Error(Bytes text);        // writes an error; `text` is the line after "-"
  void Integer(int64_t value) {  // writes an integer
    if (value >= 0 && value <= 9 && !IsBinary()) {
      char digit[4] = {':', static_cast<char>('0' + value), '\r', '\n'};
      out_->Append({digit, 4});
    } else {
      Header(':', value);
    }
  }
  void Bulk(Bytes text);  // writes a bulk string
  // Writes a bulk string. A large Blob is sent without a copy.
  void Bulk(const BlobRef& blob);
  void BulkInteger(int64_t value) { Bulk(IntegerText(value)); }  // writes an integer as bulk string
  // Writes the null for a missing value. Use NullArray where Redis sends `*-1` under RESP2.
  void Null() { NullAs("$-1\r\n"); }
  void NullArray() { NullAs("*-1\r\n"); }  // writes null; under RESP2 as a null array
  // Writes `#t` or `#f` under RESP3, 1 or 0 under RESP2.
  void Bool(bool value);
  void Double(double value);           // writes a double; under RESP2 a bulk string
  void LongDouble(long double value);  // writes a double with more digits, for coordinates; under RESP2 a bulk string
  void Verbatim(Bytes text, Bytes format);  // writes a verbatim string (RESP2: bulk); `format`: "txt" or "mkd"
  void BigNumber(Bytes digits);             // writes a big number (RESP2: bulk), given as decimal digits
  // Array, Map, Set and Push write headers: `count` elements (or `pairs` of elements) must follow.
  void Array(size_t count) {  // writes the header of an array; `count` elements must follow
    Header('*', static_cast<int64_t>(count));
  }
  void Map(size_t pairs) { Header(IsResp3() ? '%' : '*', static_cast<int64_t>(IsResp3() ? pairs : 2 * pairs)); }
  void Set(size_t count) { Header(IsResp3() ? '~' : '*', static_cast<int64_t>(count)); }
  void Push(size_t count) { Header(IsResp3() ? '>' : '*', static_cast<int64_t>(count)); }
  // Requires: IsResp3().
  void Attribute(size_t pairs) {  // writes an attribute's header; `pairs` pairs must follow
    Header('|', static_cast<int64_t>(pairs));
  }
  void BulkArray(const auto& texts) {  // writes an array of bulk strings
    Array(texts.size());
    for (const auto& text : texts) Bulk(text);
  }

 private:
  void Header(char kind, int64_t value);  // writes kind and value, such as "*3\r\n", or their binary form
  void DoubleDigits(Bytes text);          // writes a double (RESP2: bulk), given as decimal text
  void NullAs(Bytes resp2) {              // writes null; `resp2` are the bytes for RESP2
    if (IsBinary()) return Header('_', IsResp3() ? 3 : 2);
    out_->Append(IsResp3() ? Bytes("_\r\n") : resp2);
  }
  bool IsBinary() const { return form_ == ReplyForm::kBinary; }  // true: writes for BinaryReplyReader, not RESP
  void Binary(char kind, int64_t value);   // writes kind and 8 bytes of value, for BinaryReplyReader
  void BinaryText(char kind, Bytes text);  // writes kind, size and text, for BinaryReplyReader
  void ShortBulk(Bytes text);              // writes a bulk string of fewer than 64 bytes

  ReplyBuffer* out_;
  RespVersion version_;  // RESP2, or RESP3 if the client has chosen it
  ReplyForm form_;
};

}  // namespace respite
