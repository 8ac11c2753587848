#include "datatypes/json/json_syntax_error.h"

#include <algorithm>
#include <cstdint>

#include "base/str_cat.h"
#include "datatypes/json/json_text.h"

namespace respite {

namespace {

// Reads a JSON text until the first error. Each function returns false if it has found an error. As in Redis, an error
// is reported at the last byte that was read (Fail), or at the next one (FailNext).
class JsonErrorFinder {
 public:
  JsonErrorFinder(Bytes text, size_t max_depth) : text_(text), max_depth_(max_depth) {}

  std::string Describe() {
    if (ReadValue()) FailNext(SkipBlanks() ? "trailing characters" : "invalid unicode code point");
    return error_;
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool IsNext(char c) const { return !AtEnd() && text_[at_] == c; }
  bool Take(char c) {
    if (!IsNext(c)) return false;
    ++at_;
    return true;
  }
  bool SkipBlanks() {  // false: the text ends here
    while (!AtEnd() && Bytes(" \n\t\r").find(text_[at_]) != Bytes::npos) ++at_;
    return !AtEnd();
  }

  bool FailAt(const char* reason, size_t end) {
    const Bytes before = text_.substr(0, std::min(end, text_.size()));
    const auto lines = std::ranges::count(before, '\n');
    const size_t line_start = before.rfind('\n') + 1;  // 0 if there is no line end
    error_ = StrCat(reason, " at line ", static_cast<size_t>(lines) + 1, " column ", before.size() - line_start);
    return false;
  }
  bool Fail(const char* reason) { return FailAt(reason, at_); }
  bool FailNext(const char* reason) { return FailAt(reason, at_ + 1); }

  bool ReadValue() {
    if (!SkipBlanks()) return FailNext("EOF while parsing a value");
    switch (Peek()) {
      case 'n':
        return ReadIdentifier("null");
      case 't':
        return ReadIdentifier("true");
      case 'f':
        return ReadIdentifier("false");
      case '"':
        ++at_;
        return ReadString();
      case '[':
      case '{':
        return ReadContainer();
      default:
        return Peek() == '-' || IsDigit(Peek()) ? ReadNumber() : FailNext("expected value");
    }
  }

  bool ReadIdentifier(Bytes word) {
    ++at_;
    for (const char c : word.substr(1)) {
      if (AtEnd()) return Fail("EOF while parsing a value");
      if (text_[at_++] != c) return Fail("expected ident");
    }
    return true;
  }

  bool ReadContainer() {
    if (depth_ == max_depth_) return FailNext("recursion limit exceeded");
    ++depth_;
    const bool is_good = text_[at_++] == '[' ? ReadElements() : ReadMembers();
    --depth_;
    return is_good;
  }

  bool ReadElements() {
    for (bool is_first = true;; is_first = false) {
      if (!SkipBlanks()) return FailNext("EOF while parsing a list");
      if (Take(']')) return true;
      if (!is_first) {
        if (!Take(',')) return FailNext("expected `,` or `]`");
        SkipBlanks();
        if (IsNext(']')) return FailNext("trailing comma");
      }
      if (!ReadValue()) return false;
    }
  }

  bool ReadMembers() {
    for (bool is_first = true;; is_first = false) {
      if (!SkipBlanks()) return FailNext("EOF while parsing an object");
      if (Take('}')) return true;
      if (!is_first) {
        if (!Take(',')) return FailNext("expected `,` or `}`");
        if (!SkipBlanks()) return FailNext("EOF while parsing a value");
        if (IsNext('}')) return FailNext("trailing comma");
      }
      if (!Take('"')) return FailNext("key must be a string");
      if (!ReadString()) return false;
      if (!SkipBlanks()) return FailNext("EOF while parsing an object");
      if (!Take(':')) return FailNext("expected `:`");
      if (!ReadValue()) return false;
    }
  }

  void SkipDigits() {
    while (IsDigit(Peek())) ++at_;
  }

  bool ReadNumber() {
    const size_t start = at_;
    if (Take('-') && AtEnd()) return Fail("EOF while parsing a value");
    const char first = text_[at_++];
    if (!IsDigit(first)) return Fail("invalid number");
    if (first == '0' && IsDigit(Peek())) return FailNext("invalid number");
    SkipDigits();
    if (Take('.')) {
      if (!IsDigit(Peek())) return FailNext(AtEnd() ? "EOF while parsing a value" : "invalid number");
      SkipDigits();
    }
    if (Take('e') || Take('E')) {
      if (!Take('+')) Take('-');
      if (AtEnd()) return Fail("EOF while parsing a value");
      if (!IsDigit(text_[at_++])) return Fail("invalid number");
      SkipDigits();
    }
    return ParseJsonNumber(text_.substr(start, at_ - start)).IsNumeric() || Fail("number out of range");
  }

  bool ReadString() {  // reads after the opening quote
    while (!AtEnd()) {
      const auto c = static_cast<uint8_t>(text_[at_++]);
      if (c == '"') return true;
      if (c < 0x20) return Fail("control character (\\u0000-\\u001F) found while parsing a string");
      if (c == '\\' && !ReadEscape()) return false;
    }
    return Fail("EOF while parsing a string");
  }

  bool ReadEscape() {  // reads after the backslash
    if (AtEnd()) return Fail("EOF while parsing a string");
    const char c = text_[at_++];
    if (c != 'u') return Bytes("\"\\/bfnrt").find(c) != Bytes::npos || Fail("invalid escape");
    uint32_t unit = 0;
    if (!ReadHex(unit)) return false;
    if (unit >= 0xdc00 && unit <= 0xdfff) return Fail("lone leading surrogate in hex escape");
    if (unit < 0xd800 || unit > 0xdbff) return true;
    for (const char expected : {'\\', 'u'}) {
      if (AtEnd()) return Fail("EOF while parsing a string");
      if (text_[at_++] != expected) return Fail("unexpected end of hex escape");
    }
    if (!ReadHex(unit)) return false;
    return (unit >= 0xdc00 && unit <= 0xdfff) || Fail("lone leading surrogate in hex escape");
  }

  bool ReadHex(uint32_t& unit) {
    if (text_.size() - at_ < 4) {
      at_ = text_.size();
      return Fail("EOF while parsing a string");
    }
    unit = 0;
    bool is_hex = true;
    for (int i = 0; i < 4; ++i) {
      const size_t digit = Bytes(kHexDigits).find(LowerChar(text_[at_++]));
      is_hex = is_hex && digit != Bytes::npos;
      unit = unit << 4 | static_cast<uint32_t>(digit & 15);
    }
    return is_hex || Fail("invalid escape");
  }

  const Bytes text_;
  const size_t max_depth_;
  size_t at_ = 0;     // offset of the next byte to read
  size_t depth_ = 0;  // number of arrays and objects that are open
  std::string error_;
};

}  // namespace

std::string DescribeJsonError(Bytes text, size_t max_depth) { return JsonErrorFinder(text, max_depth).Describe(); }

}  // namespace respite
