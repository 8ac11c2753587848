#include "server/lab/report/shown_text.h"

#include <algorithm>
#include <array>
#include <optional>

namespace respite {

namespace {

struct Character {
  uint32_t code;
  size_t bytes;
};

struct Codes {
  uint32_t first;
  uint32_t last;

  bool Has(uint32_t code) const { return code >= first && code <= last; }
};

// Characters that readers cannot see: control characters, zero-width characters, direction marks, line separators and
// tags.
constexpr std::array kInvisibleCodes = {Codes{0x7f, 0x9f},     Codes{0xad, 0xad},      Codes{0x061c, 0x061c},
                                        Codes{0x180e, 0x180e}, Codes{0x200b, 0x200f},  Codes{0x2028, 0x202e},
                                        Codes{0x2060, 0x206f}, Codes{0xfeff, 0xfeff},  Codes{0xfff0, 0xfffb},
                                        Codes{0xfffe, 0xffff}, Codes{0xe0000, 0xe0fff}};
constexpr std::array kWideCodes = {Codes{0x1100, 0x115f}, Codes{0x2e80, 0xa4cf},   Codes{0xac00, 0xd7a3},
                                   Codes{0xf900, 0xfaff}, Codes{0xfe30, 0xfe6f},   Codes{0xff00, 0xff60},
                                   Codes{0xffe0, 0xffe6}, Codes{0x1f300, 0x1faff}, Codes{0x20000, 0x3fffd}};

bool IsIn(const auto& ranges, uint32_t code) {
  return std::ranges::any_of(ranges, [code](const Codes& codes) { return codes.Has(code); });
}

size_t BytesOf(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

// Returns the first character of a text, or nullopt if the text does not begin with valid UTF-8. Requires: not empty.
std::optional<Character> FirstOf(Bytes text) {
  const auto byte = [text](size_t at) { return static_cast<unsigned char>(text[at]); };
  const size_t bytes = BytesOf(byte(0));
  if (bytes == 0 || bytes > text.size()) return std::nullopt;
  uint32_t code = bytes == 1 ? byte(0) : byte(0) & (0x7fU >> bytes);
  for (size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return std::nullopt;
    code = code << 6 | (byte(at) & 0x3f);
  }
  const bool is_longer_than_needed = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool is_none = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff;
  if (is_longer_than_needed || is_none) return std::nullopt;
  return Character{code, bytes};
}

void AppendEscaped(std::string& out, Bytes bytes) {
  for (const char c : bytes) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        constexpr char kDigits[] = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
}

enum class Form : uint8_t { kPlain, kQuoted };

std::string Readable(Bytes text, Form form) {
  std::string out;
  while (!text.empty()) {
    const auto character = FirstOf(text);
    const Bytes bytes = text.substr(0, character ? character->bytes : 1);
    text.remove_prefix(bytes.size());
    if (!character || character->code < ' ' || IsIn(kInvisibleCodes, character->code)) {
      AppendEscaped(out, bytes);
      continue;
    }
    if (form == Form::kQuoted && (bytes == "\"" || bytes == "\\")) out += '\\';
    out += bytes;
  }
  return out;
}

}  // namespace

std::string PlainText(Bytes text) { return Readable(text, Form::kPlain); }

std::string PlainWord(Bytes word) {
  constexpr Bytes kSpecial = " \"'\\";
  const std::string plain = PlainText(word);
  const bool is_one_word = !word.empty() && plain == word && word.find_first_of(kSpecial) == Bytes::npos;
  return is_one_word ? plain : "\"" + Readable(word, Form::kQuoted) + "\"";
}

size_t WidthOf(Bytes text) {
  size_t width = 0;
  while (!text.empty()) {
    const auto character = FirstOf(text);
    width += character && IsIn(kWideCodes, character->code) ? 2 : 1;
    text.remove_prefix(character ? character->bytes : 1);
  }
  return width;
}

std::string Shortened(Bytes text, size_t most) {
  if (text.size() <= most || WidthOf(text) <= most) return std::string(text);
  size_t kept = 0;
  size_t width = 0;
  while (true) {
    const auto character = FirstOf(text.substr(kept));
    width += character && IsIn(kWideCodes, character->code) ? 2 : 1;
    if (width > most - 3) return std::string(text.substr(0, kept)) + "...";
    kept += character ? character->bytes : 1;
  }
}

std::string HtmlText(Bytes text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Returns the text as a JSON string for a <script> element of an HTML page. Escapes characters such as < and &, so that
// the text cannot end the element or begin a comment in it.
std::string JsonText(Bytes text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && Bytes("\"\\<>&'").find(c) == Bytes::npos) {
      out += c;
      continue;
    }
    constexpr char kDigits[] = "0123456789abcdef";
    out += "\\u00";
    out += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out + '"';
}

}  // namespace respite
