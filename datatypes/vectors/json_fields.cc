#include "datatypes/vectors/json_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace respite {

namespace {

bool IsJsonSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class JsonCursor {  // a cursor over a JSON text; after a failure it may stand anywhere
 public:
  explicit JsonCursor(Bytes text) : rest_(text) {}

  Bytes Rest() const { return rest_; }
  bool AtEnd() {  // skips spaces; true: nothing is left
    while (!rest_.empty() && IsJsonSpace(rest_.front())) rest_.remove_prefix(1);
    return rest_.empty();
  }
  bool Take(char c) {  // skips spaces and this character; false: there is another character
    if (AtEnd() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<Bytes> String() {  // the bytes between quotes; nullopt: there is no complete string
    if (!Take('"')) return std::nullopt;
    for (size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '\\') {
        ++i;
      } else if (rest_[i] == '"') {
        const Bytes text = rest_.substr(0, i);
        rest_.remove_prefix(i + 1);
        return text;
      }
    }
    return std::nullopt;
  }

  // Reads an object or an array. Returns nullopt if none begins here, or if its closing bracket is missing. Counts only
  // brackets of this kind outside strings, and checks nothing else.
  std::optional<Bytes> Container(char open, char close) {  // the bytes between the brackets
    if (!Take(open)) return std::nullopt;
    const Bytes begin = rest_;
    for (size_t depth = 1; !rest_.empty();) {
      const char c = rest_.front();
      if (c == '"') {
        if (!String()) return std::nullopt;
        continue;
      }
      rest_.remove_prefix(1);
      if (c == open) ++depth;
      if (c == close && --depth == 0) return begin.substr(0, begin.size() - rest_.size() - 1);
    }
    return std::nullopt;
  }

  std::optional<double> Number() {
    size_t size = 0;
    while (size < rest_.size() &&
           (std::isdigit(static_cast<unsigned char>(rest_[size])) != 0 || rest_[size] == '.' || rest_[size] == 'e' ||
            rest_[size] == 'E' || rest_[size] == '+' || rest_[size] == '-'))
      ++size;
    const Bytes digits = rest_.substr(0, size);
    rest_.remove_prefix(size);
    const size_t plus = digits.starts_with('+') ? 1 : 0;
    double number = 0;
    const char* end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data() + plus, end, number);
    if (at != end || digits.empty()) return std::nullopt;
    if (error == std::errc::result_out_of_range) return digits.find('-', 1) == Bytes::npos ? HUGE_VAL : 0.0;
    return error == std::errc() ? std::optional(number) : std::nullopt;
  }

  // Skips `word`, for example `true`. Returns false if the text does not continue with `word`, or if a letter or digit
  // follows it.
  bool Word(Bytes word) {
    if (!rest_.starts_with(word)) return false;
    if (rest_.size() > word.size() && std::isalnum(static_cast<unsigned char>(rest_[word.size()])) != 0) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

 private:
  Bytes rest_;
};

// Skips a value of any kind. Does not check what is inside an object or an array, and accepts a malformed number.
bool SkipValue(JsonCursor& at) {
  if (at.AtEnd()) return false;
  switch (at.Rest().front()) {
    case '"':
      return at.String().has_value();
    case '{':
      return at.Container('{', '}').has_value();
    case '[':
      return at.Container('[', ']').has_value();
    case 't':
      return at.Word("true");
    case 'f':
      return at.Word("false");
    case 'n':
      return at.Word("null");
    default:
      const size_t before = at.Rest().size();
      at.Number();
      return at.Rest().size() != before;
  }
}

std::optional<AttributeValue> TakeValue(JsonCursor& at);

// Returns whether filters can use an array. `text` is the content of the array, without its brackets: empty, or values
// separated by commas. No value may be an object or malformed. Does not check what is inside an inner array.
bool IsGoodArray(Bytes text) {
  JsonCursor at(text);
  if (at.AtEnd()) return true;
  do {
    if (at.AtEnd()) return false;
    if (at.Rest().front() == '[' ? !SkipValue(at) : !TakeValue(at)) return false;
  } while (at.Take(','));
  return at.AtEnd();
}

std::optional<AttributeValue> TakeValue(JsonCursor& at) {
  using Kind = AttributeValue::Kind;
  if (at.AtEnd()) return std::nullopt;
  switch (at.Rest().front()) {
    case '"': {
      const auto text = at.String();
      return text ? std::optional(AttributeValue{Kind::kText, 0, *text}) : std::nullopt;
    }
    case '[': {
      const auto text = at.Container('[', ']');
      return text && IsGoodArray(*text) ? std::optional(AttributeValue{Kind::kArray, 0, *text}) : std::nullopt;
    }
    case 't':
      return at.Word("true") ? std::optional(AttributeValue{Kind::kNumber, 1, {}}) : std::nullopt;
    case 'f':
      return at.Word("false") ? std::optional(AttributeValue{Kind::kNumber, 0, {}}) : std::nullopt;
    case 'n':
      return at.Word("null") ? std::optional(AttributeValue{}) : std::nullopt;
    default:
      const auto number = at.Number();
      return number ? std::optional(AttributeValue{Kind::kNumber, *number, {}}) : std::nullopt;
  }
}

// Appends a character in UTF-8.
void AppendUtf8(std::string& to, uint32_t code) {
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xC0 | code >> 6);
    to += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x10000) {
    to += static_cast<char>(0xE0 | code >> 12);
    to += static_cast<char>(0x80 | (code >> 6 & 63));
    to += static_cast<char>(0x80 | (code & 63));
  } else {
    to += static_cast<char>(0xF0 | code >> 18);
    to += static_cast<char>(0x80 | (code >> 12 & 63));
    to += static_cast<char>(0x80 | (code >> 6 & 63));
    to += static_cast<char>(0x80 | (code & 63));
  }
}

// Takes the four digits of \uXXXX. Returns nullopt if there are no four digits.
std::optional<uint32_t> TakeHexDigits(Bytes& text) {
  if (text.size() < 4) return std::nullopt;
  uint32_t code = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + 4, code, 16);
  if (error != std::errc() || at != text.data() + 4) return std::nullopt;
  text.remove_prefix(4);
  return code;
}

// Appends the character of an escape \uXXXX to `to`, and removes the four digits, with which `text` begins. Two
// surrogates are one character. If there are no four digits, appends only the letter u.
void AppendEscapedCode(Bytes& text, std::string& to) {
  const auto code = TakeHexDigits(text);
  if (!code) {
    to += 'u';
    return;
  }
  if (*code >= 0xD800 && *code < 0xDC00 && text.starts_with("\\u")) {
    Bytes after = text.substr(2);
    const auto low = TakeHexDigits(after);
    if (low && *low >= 0xDC00 && *low < 0xE000) {
      text = after;
      return AppendUtf8(to, 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00));
    }
  }
  AppendUtf8(to, *code);
}

}  // namespace

std::optional<Bytes> JsonFieldReader::Next() {
  JsonCursor at(rest_);
  const bool is_good = place_ == Place::kObject  ? at.Take('{')
                       : place_ == Place::kComma ? at.Take(',')
                                                 : SkipValue(at) && at.Take(',');
  if (!is_good) return std::nullopt;
  const auto name = at.String();
  if (!name || !at.Take(':')) return std::nullopt;
  rest_ = at.Rest();
  place_ = Place::kValue;
  return name;
}

std::optional<AttributeValue> JsonFieldReader::TakeValue() {
  JsonCursor at(rest_);
  auto value = respite::TakeValue(at);
  rest_ = at.Rest();
  place_ = Place::kComma;
  return value;
}

std::optional<AttributeValue> NextJsonElement(Bytes& rest) {
  JsonCursor at(rest);
  if (at.AtEnd()) return std::nullopt;
  std::optional<AttributeValue> value = AttributeValue{AttributeValue::Kind::kArray, 0, {}};
  if (at.Rest().front() == '[') {
    SkipValue(at);
  } else {
    value = TakeValue(at);
  }
  at.Take(',');
  rest = at.Rest();
  return value;
}

Bytes TextOfAttribute(const AttributeValue& value, std::string& buffer) {
  Bytes text = value.text;
  size_t at = text.find('\\');
  if (at == Bytes::npos) return text;
  buffer.clear();
  for (; at != Bytes::npos; at = text.find('\\')) {
    buffer.append(text.substr(0, at));
    const char c = at + 1 < text.size() ? text[at + 1] : '\\';
    text.remove_prefix(std::min(at + 2, text.size()));
    constexpr Bytes kEscapes = "bfnrt";
    constexpr Bytes kMeanings = "\b\f\n\r\t";
    const size_t escape = kEscapes.find(c);
    if (c == 'u') {
      AppendEscapedCode(text, buffer);
    } else {
      buffer += escape == Bytes::npos ? c : kMeanings[escape];
    }
  }
  buffer.append(text);
  return buffer;
}

}  // namespace respite
