#include "datatypes/json/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/number_text.h"

namespace respite {

namespace {

void AppendRepeated(std::string& out, Bytes text, size_t count) {
  for (size_t i = 0; i < count && !text.empty(); ++i) out += text;
}

void BeginLine(std::string& out, const JsonFormat& format, size_t level) {
  out += format.newline;
  AppendRepeated(out, format.indent, level);
}

void AppendEscape(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHexDigits[static_cast<uint8_t>(c) >> 4];
      out += kHexDigits[c & 15];
  }
}

// Appends digits with a decimal point or an exponent. The number is 0.DIGITS * 10^point.
void AppendDecimal(std::string& out, Bytes digits, int point) {
  constexpr int kMaxPlain = 16;  // digits before the point, above which the number gets an exponent
  constexpr int kMinPlain = -5;  // minus the zeros after the point, from which on the number gets an exponent
  const int size = static_cast<int>(digits.size());
  if (size <= point && point <= kMaxPlain) {
    out += digits;
    out.append(static_cast<size_t>(point - size), '0');
    out += ".0";
  } else if (point > 0 && point <= kMaxPlain) {
    out += digits.substr(0, static_cast<size_t>(point));
    out += '.';
    out += digits.substr(static_cast<size_t>(point));
  } else if (point > kMinPlain && point <= 0) {
    out += "0.";
    out.append(static_cast<size_t>(-point), '0');
    out += digits;
  } else {
    out += digits[0];
    if (size > 1) {
      out += '.';
      out += digits.substr(1);
    }
    out += 'e';
    out += IntegerText(point - 1).View();
  }
}

void AppendArray(std::string& out, const JsonValue& value, const JsonFormat& format, size_t level) {
  out += '[';
  bool is_first = true;
  for (const JsonValue& element : value.Elements()) {
    if (out.size() > format.max_bytes) return;
    if (!is_first) out += ',';
    is_first = false;
    BeginLine(out, format, level + 1);
    AppendJson(out, element, format, level + 1);
  }
  if (!is_first) BeginLine(out, format, level);
  out += ']';
}

void AppendObject(std::string& out, const JsonValue& value, const JsonFormat& format, size_t level) {
  out += '{';
  bool is_first = true;
  for (const JsonMember& member : value.Members()) {
    if (out.size() > format.max_bytes) return;
    if (!is_first) out += ',';
    is_first = false;
    BeginLine(out, format, level + 1);
    AppendJsonString(out, member.name.AsString());
    out += ':';
    out += format.space;
    AppendJson(out, member.value, format, level + 1);
  }
  if (!is_first) BeginLine(out, format, level);
  out += '}';
}

}  // namespace

void AppendJsonString(std::string& out, Bytes text) {
  out += '"';
  size_t plain = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<uint8_t>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out += text.substr(plain, i - plain);
    AppendEscape(out, c);
    plain = i + 1;
  }
  out += text.substr(plain);
  out += '"';
}

void AppendJsonNumber(std::string& out, double number) {
  if (number == 0) {
    out += std::signbit(number) ? "-0.0" : "0.0";
    return;
  }
  if (number < 0) out += '-';
  // Gets the number in scientific form, such as "1.234e+05" or "1e-07". The digits and the exponent are then taken from
  // this text.
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(number), std::chars_format::scientific);
  const Bytes text(buffer.data(), static_cast<size_t>(end.ptr - buffer.data()));
  const size_t e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  int exponent = 0;
  const size_t first_digit = text[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(text.data() + first_digit, text.data() + text.size(), exponent);
  AppendDecimal(out, digits, exponent + 1);
}

void AppendJson(std::string& out, const JsonValue& value, const JsonFormat& format, size_t level) {
  switch (value.Kind()) {
    case JsonKind::kNull:
      out += "null";
      return;
    case JsonKind::kBoolean:
      out += value.AsBoolean() ? "true" : "false";
      return;
    case JsonKind::kInteger:
      out += IntegerText(value.AsInteger()).View();
      return;
    case JsonKind::kUnsigned:
      out += IntegerText::FromUnsigned(value.AsUnsigned()).View();
      return;
    case JsonKind::kNumber:
      return AppendJsonNumber(out, value.AsNumber());
    case JsonKind::kString:
      return AppendJsonString(out, value.AsString());
    case JsonKind::kArray:
      return AppendArray(out, value, format, level);
    case JsonKind::kObject:
      return AppendObject(out, value, format, level);
  }
}

uint64_t JsonLayoutBytes(const JsonValue& value, const JsonFormat& format, size_t level) {
  if (!value.IsContainer() || value.Size() == 0) return 0;
  const uint64_t closing = format.newline.size() + uint64_t{format.indent.size()} * level;
  uint64_t bytes = closing + value.Size() * (closing + format.indent.size());
  const auto add = [&](const JsonValue& inside) { bytes += JsonLayoutBytes(inside, format, level + 1); };
  if (value.Is(JsonKind::kArray)) {
    if (!value.IsPacked()) std::ranges::for_each(value.Elements(), add);
  } else {
    bytes += value.Size() * format.space.size();
    for (const JsonMember& member : value.Members()) add(member.value);
  }
  return bytes;
}

std::string JsonText(const JsonValue& value) {
  std::string text;
  AppendJson(text, value);
  return text;
}

size_t ValidUtf8Bytes(Bytes text) {
  size_t at = 0;
  while (at < text.size()) {
    const uint8_t first = ByteAt(text, at);
    if (first < 0x80) {
      ++at;
      continue;
    }
    const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() - at < size) return at;
    // The second byte shows whether the encoding is longer than necessary, and whether the character is a surrogate or
    // above U+10FFFF.
    const uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (ByteAt(text, at + 1) < least || ByteAt(text, at + 1) > most) return at;
    for (size_t i = 2; i < size; ++i) {
      if ((ByteAt(text, at + i) & 0xc0) != 0x80) return at;
    }
    at += size;
  }
  return at;
}

JsonValue ParseJsonNumber(Bytes text) {
  if (text.find_first_of(".eE") == Bytes::npos && text != "-0") {
    if (const auto integer = ParseInteger(text)) return JsonValue::Integer(*integer);
    if (const auto number = ParseUnsigned(text)) return JsonValue::Unsigned(*number);
  }
  double number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec == std::errc::result_out_of_range) {
    // from_chars does not say whether the number is too large or too small for a double. Too large is an error; too
    // small counts as 0.
    const size_t e = text.find_first_of("eE");
    const bool is_small = e != Bytes::npos && e + 1 < text.size() && text[e + 1] == '-';
    const Bytes digits = text.substr(0, e);
    const bool starts_small = digits.starts_with("0.") || digits.starts_with("-0.");
    if (!is_small && !(starts_small && e == Bytes::npos)) return {};
    number = text[0] == '-' ? -0.0 : 0.0;
  }
  if (!std::isfinite(number)) return {};
  return JsonValue::Number(number);
}

}  // namespace respite
