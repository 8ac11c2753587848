#include "base/bytes.h"

#include <algorithm>

namespace respite {

namespace {

// Returns the letter after the backslash in the escape sequence of `c`: 'n' for a newline. Returns 0 if `c` has no such
// sequence.
constexpr char EscapeLetter(char c) {
  switch (c) {
    case '\\':
    case '"':
      return c;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    default:
      return 0;
  }
}

constexpr char EscapedChar(char letter) {
  switch (letter) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    default:
      return letter;
  }
}

constexpr int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  const char lower = LowerChar(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Reads the words of a line one after the other, with the quotes and escapes that SplitQuoted describes.
class WordReader {
 public:
  WordReader(Bytes line, AfterQuote after) : rest_(line), after_(after) {}

  bool SkipSpaces() {
    while (!rest_.empty() && IsSpace(rest_.front())) rest_.remove_prefix(1);
    return !rest_.empty();
  }

  // Returns the next word without its quotes. Returns nullopt if a quote is not closed, or if text follows a closing
  // quote that must not. Requires: SkipSpaces() returned true.
  std::optional<std::string> Next() {
    std::string word;
    while (!rest_.empty() && !EndsPlainWord(rest_.front())) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c != '"' && c != '\'') {
        word.push_back(c);
        continue;
      }
      if (c == '"' ? !TakeDouble(word) : !TakeSingle(word)) return std::nullopt;
      if (rest_.empty() || IsSpace(rest_.front())) return word;
      if (after_ == AfterQuote::kSpace) return std::nullopt;
    }
    return word;
  }

 private:
  // Returns true if `c` ends an unquoted word. As in Redis, \v and \f are skipped between words, but do not end an
  // unquoted word.
  static bool EndsPlainWord(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

  // TakeDouble and TakeSingle append the rest of a quoted part, up to its closing quote; false: it is not closed.
  bool TakeDouble(std::string& word) {
    while (!rest_.empty()) {
      if (rest_.front() == '"') return Take(1, true);
      word.push_back(TakeEscapable());
    }
    return false;
  }

  // Takes one character of a word in double quotes, or an escape sequence such as \n or \x41. Returns the byte that it
  // stands for. A backslash at the end of the line stands for itself (and the quotes stay unbalanced).
  char TakeEscapable() {
    const char c = rest_.front();
    if (c != '\\' || rest_.size() < 2) return Take(1, c);
    if (rest_[1] != 'x' || rest_.size() < 4) return Take(2, EscapedChar(rest_[1]));
    const int high = HexValue(rest_[2]);
    const int low = HexValue(rest_[3]);
    if (high < 0 || low < 0) return Take(2, 'x');
    return Take(4, static_cast<char>(high * 16 + low));
  }

  bool TakeSingle(std::string& word) {
    while (!rest_.empty()) {
      if (rest_.front() == '\'') return Take(1, true);
      const bool escaped = rest_.starts_with("\\'");
      word.push_back(Take(escaped ? 2 : 1, escaped ? '\'' : rest_.front()));
    }
    return false;
  }

  template <class Meaning>
  Meaning Take(size_t count, Meaning meaning) {
    rest_.remove_prefix(count);
    return meaning;
  }

  Bytes rest_;
  AfterQuote after_;
};

}  // namespace

bool EqualsIgnoreCase(Bytes a, Bytes b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return LowerChar(x) == LowerChar(y); });
}

std::string ToLower(Bytes text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), LowerChar);
  return lower;
}

std::string ToUpper(Bytes text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(), UpperChar);
  return upper;
}

std::string PrintablePart(Bytes text, size_t max_bytes) {
  std::string part(text.substr(0, max_bytes));
  for (char& c : part) {
    if (!IsPrintable(c)) c = '?';
  }
  return part;
}

void AppendQuoted(std::string& out, Bytes text) {
  out.push_back('"');
  for (const char c : text) {
    if (const char letter = EscapeLetter(c); letter != 0) {
      out.push_back('\\');
      out.push_back(letter);
    } else if (IsPrintable(c)) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append("\\x");
      out.push_back(kHexDigits[byte >> 4]);
      out.push_back(kHexDigits[byte & 15]);
    }
  }
  out.push_back('"');
}

std::string Quoted(Bytes text) {
  std::string out;
  out.reserve(text.size() + 2);
  AppendQuoted(out, text);
  return out;
}

std::optional<std::vector<std::string>> SplitQuoted(Bytes line, AfterQuote after) {
  // As in Redis, the line ends at its first NUL.
  WordReader reader(line.substr(0, line.find('\0')), after);
  std::vector<std::string> words;
  while (reader.SkipSpaces()) {
    std::optional<std::string> word = reader.Next();
    if (!word) return std::nullopt;
    words.push_back(std::move(*word));
  }
  return words;
}

std::string QuotedIfNeeded(Bytes word) {
  const auto is_plain = [](char c) { return IsPrintable(c) && c != ' ' && c != '"' && c != '\'' && c != '\\'; };
  const bool needs_none = !word.empty() && word.front() != '#' && std::ranges::all_of(word, is_plain);
  return needs_none ? std::string(word) : Quoted(word);
}

std::vector<Bytes> SplitOn(Bytes text, char separator) {
  std::vector<Bytes> fields;
  size_t start = 0;
  for (size_t end = text.find(separator); end != Bytes::npos; end = text.find(separator, start)) {
    fields.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  fields.push_back(text.substr(start));
  return fields;
}

Bytes TrimSpaces(Bytes text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace respite
