#include "protocol/reply.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace respite {

namespace {

constexpr size_t kHeaderMax = 24;  // kind, 20 digits, CR LF

char* WriteHeader(char* to, char kind, int64_t value) {
  *to++ = kind;
  if (value >= 0 && value < 100) {  // most numbers; faster than to_chars
    if (value >= 10) *to++ = static_cast<char>('0' + value / 10);
    *to++ = static_cast<char>('0' + value % 10);
  } else {
    to = std::to_chars(to, to + 20, value).ptr;
  }
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

// The beginning of a bulk string, such as "$12\r\n", and its size. For short texts it is copied from a table, because
// copying eight bytes is faster than printing the number.
struct ShortHeader {
  std::array<char, 7> text;
  uint8_t size;
};

constexpr std::array<ShortHeader, 64> MakeShortHeaders() {
  std::array<ShortHeader, 64> headers{};
  for (size_t size = 0; size < headers.size(); ++size) {
    const auto tens = static_cast<char>('0' + size / 10);
    const auto ones = static_cast<char>('0' + size % 10);
    if (size < 10) {
      headers[size] = {{'$', ones, '\r', '\n'}, 4};
    } else {
      headers[size] = {{'$', tens, ones, '\r', '\n'}, 5};
    }
  }
  return headers;
}
constexpr std::array<ShortHeader, 64> kShortHeaders = MakeShortHeaders();

// Copies less than 64 bytes without a function call, by two copies that overlap in the middle.
char* CopyShort(char* to, Bytes text) {
  const auto copy_ends = [&]<size_t kBytes>() {
    std::memcpy(to, text.data(), kBytes);
    std::memcpy(to + text.size() - kBytes, text.data() + text.size() - kBytes, kBytes);
  };
  const size_t size = text.size();
  if (size >= 32) {
    copy_ends.template operator()<32>();
  } else if (size >= 16) {
    copy_ends.template operator()<16>();
  } else if (size >= 8) {
    copy_ends.template operator()<8>();
  } else if (size >= 4) {
    copy_ends.template operator()<4>();
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = text[i];
  }
  return to + size;
}

}  // namespace

void Reply::ShortBulk(Bytes text) {
  const ShortHeader& header = kShortHeaders[text.size()];
  char* const begin = out_->Reserve(sizeof(ShortHeader) + kShortHeaders.size() + 2);
  std::memcpy(begin, &header, sizeof(ShortHeader));
  char* end = CopyShort(begin + header.size, text);
  *end++ = '\r';
  *end++ = '\n';
  out_->Commit(static_cast<size_t>(end - begin));
}

void Reply::Header(char kind, int64_t value) {
  if (IsBinary()) return Binary(kind, value);
  char* begin = out_->Reserve(kHeaderMax);
  out_->Commit(static_cast<size_t>(WriteHeader(begin, kind, value) - begin));
}

void Reply::Binary(char kind, int64_t value) {
  char* begin = out_->Reserve(1 + sizeof value);
  *begin = kind;
  std::memcpy(begin + 1, &value, sizeof value);
  out_->Commit(1 + sizeof value);
}

void Reply::BinaryText(char kind, Bytes text) {
  Binary(kind, static_cast<int64_t>(text.size()));
  out_->Append(text);
}

void Reply::Simple(Bytes text) {
  if (IsBinary()) return BinaryText('+', text);
  out_->Append("+");
  out_->Append(text);
  out_->Append("\r\n");
}

void Reply::Error(Bytes text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  if (IsBinary()) return BinaryText('-', line);
  out_->Append("-");
  line.append("\r\n");
  out_->Append(line);
}

void Reply::Bulk(Bytes text) {
  if (IsBinary()) return BinaryText('$', text);
  if (text.size() < kShortHeaders.size()) return ShortBulk(text);
  constexpr size_t kOneGo = 1024;
  if (text.size() > kOneGo) {
    Header('$', static_cast<int64_t>(text.size()));
    out_->Append(text);
    out_->Append("\r\n");
    return;
  }
  char* begin = out_->Reserve(kHeaderMax + kOneGo + 2);
  char* end = WriteHeader(begin, '$', static_cast<int64_t>(text.size()));
  end += text.copy(end, text.size());
  *end++ = '\r';
  *end++ = '\n';
  out_->Commit(static_cast<size_t>(end - begin));
}

void Reply::Bulk(const BlobRef& blob) {
  if (blob.Size() < ReplyBuffer::kMinSharedBytes) return Bulk(blob.View());
  Header('$', static_cast<int64_t>(blob.Size()));
  out_->AppendShared(blob);
  if (!IsBinary()) out_->Append("\r\n");
}

void Reply::Bool(bool value) {
  if (!IsResp3()) return Integer(value ? 1 : 0);
  if (IsBinary()) return Binary('#', value ? 1 : 0);
  out_->Append(value ? Bytes("#t\r\n") : Bytes("#f\r\n"));
}

void Reply::Double(double value) {
  if (IsBinary() && IsResp3()) return Binary(',', std::bit_cast<int64_t>(value));
  DoubleDigits(DoubleText(value));
}

void Reply::LongDouble(long double value) {
  if (IsBinary() && IsResp3()) return Binary(',', std::bit_cast<int64_t>(static_cast<double>(value)));
  DoubleDigits(LongDoubleText(value));
}

void Reply::DoubleDigits(Bytes text) {
  if (!IsResp3()) return Bulk(text);
  out_->Append(",");
  out_->Append(text);
  out_->Append("\r\n");
}

void Reply::Verbatim(Bytes text, Bytes format) {
  if (!IsResp3()) return Bulk(text);
  Header('=', static_cast<int64_t>(text.size() + format.size() + 1));
  out_->Append(format);
  out_->Append(":");
  out_->Append(text);
  if (!IsBinary()) out_->Append("\r\n");
}

void Reply::BigNumber(Bytes digits) {
  if (!IsResp3()) return Bulk(digits);
  if (IsBinary()) return BinaryText('(', digits);
  out_->Append("(");
  out_->Append(digits);
  out_->Append("\r\n");
}

}  // namespace respite
