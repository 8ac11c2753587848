// Reply: writes RESP2 or RESP3 into a ReplyBuffer.
//
// Handlers say what the reply is (a map, a double, null); the protocol version of the client decides the form. Under
// RESP2 a map is a flat array, a double a bulk string, a bool 0 or 1, null a null bulk.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/number_text.h"
#include "protocol/reply_buffer.h"

namespace respite {

enum class RespVersion : uint8_t { kResp2 = 2, kResp3 = 3 };

// The form of a reply: for a peer, or for a reader in this process (BinaryReplyReader), which gets numbers in binary.
enum class ReplyForm : uint8_t { kWire, kBinary };

class Reply {
 public:
  Reply(ReplyBuffer& out, RespVersion version, ReplyForm form = ReplyForm::kWire)
      : out_(&out), version_(version), form_(form) {}

  bool IsResp3() const { return version_ == RespVersion::kResp3; }
  // Bytes in the buffer, those of earlier replies included.
  size_t Size() const { return out_->Size(); }

  void Ok() { IsBinary() ? BinaryText('+', "OK") : out_->Append("+OK\r\n"); }
  void Simple(Bytes text);
  // The whole line after the '-': "ERR syntax error". Line ends inside become spaces, as in Redis.
  void Error(Bytes text);
  void Integer(int64_t value) {
    if (value >= 0 && value <= 9 && !IsBinary()) {
      char digit[4] = {':', static_cast<char>('0' + value), '\r', '\n'};
      out_->Append({digit, 4});
    } else {
      Header(':', value);
    }
  }
  void Bulk(Bytes text);
  // A bulk string that is sent directly from the Blob.
  void Bulk(const BlobRef& blob);
  void BulkInteger(int64_t value) { Bulk(IntegerText(value)); }
  // For a missing value; use NullArray where Redis sends `*-1` under RESP2.
  void Null() { NullAs("$-1\r\n"); }
  void NullArray() { NullAs("*-1\r\n"); }
  // RESP3 `#t`, RESP2 1/0.
  void Bool(bool value);
  void Double(double value);
  // A double with as many digits as a long double, for coordinates.
  void LongDouble(long double value);
  // Text with a format of three letters ("txt", "mkd"); a bulk string under RESP2.
  void Verbatim(Bytes text, Bytes format);
  void BigNumber(Bytes digits);
  // Headers: `count` elements (pairs for Map) must follow.
  void Array(size_t count) { Header('*', static_cast<int64_t>(count)); }
  void Map(size_t pairs) { Header(IsResp3() ? '%' : '*', static_cast<int64_t>(IsResp3() ? pairs : 2 * pairs)); }
  void Set(size_t count) { Header(IsResp3() ? '~' : '*', static_cast<int64_t>(count)); }
  void Push(size_t count) { Header(IsResp3() ? '>' : '*', static_cast<int64_t>(count)); }
  // Attributes exist only under RESP3; the caller must not write them under RESP2.
  void Attribute(size_t pairs) { Header('|', static_cast<int64_t>(pairs)); }
  void BulkArray(const auto& texts) {
    Array(texts.size());
    for (const auto& text : texts) Bulk(text);
  }

 private:
  void Header(char kind, int64_t value);
  void DoubleOf(Bytes text);
  void NullAs(Bytes resp2) {
    if (IsBinary()) return Header('_', IsResp3() ? 3 : 2);
    out_->Append(IsResp3() ? Bytes("_\r\n") : resp2);
  }
  bool IsBinary() const { return form_ == ReplyForm::kBinary; }
  void Binary(char kind, int64_t value);
  void BinaryText(char kind, Bytes text);
  // Requires: less than 64 bytes.
  void ShortBulk(Bytes text);

  ReplyBuffer* out_;
  RespVersion version_;
  ReplyForm form_;
};

}  // namespace respite
