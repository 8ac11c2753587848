// Bytes: a view of any bytes. Redis keys, values and arguments are binary safe, so text and data share this type.
//
// Only ASCII letters have a case, and only ASCII white space counts as such. No function here depends on the locale.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace respite {

using Bytes = std::string_view;

constexpr char LowerChar(char c) {  // changes A-Z to a-z, leaves other characters
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
constexpr char UpperChar(char c) {  // changes a-z to A-Z, leaves other characters
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
}
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }  // true: a digit from 0 to 9
constexpr bool IsSpace(char c) {                                 // true: ASCII white space, including \v and \f
  return c == ' ' || (c >= '\t' && c <= '\r');
}
constexpr bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }  // true: printable ASCII, from ' ' to '~'

inline constexpr char kHexDigits[] = "0123456789abcdef";

constexpr uint8_t ByteAt(Bytes text, size_t at) { return static_cast<uint8_t>(text[at]); }  // the byte, 0 to 255

bool EqualsIgnoreCase(Bytes a, Bytes b);  // true: equal except for the case of ASCII letters
std::string ToLower(Bytes text);          // a copy of the text in which A-Z are a-z
std::string ToUpper(Bytes text);          // a copy of the text in which a-z are A-Z

std::string PrintablePart(Bytes text, size_t max_bytes);  // the first `max_bytes` bytes; ? for unprintable ones

// Returns the double-quoted form that MONITOR, redis-cli and log lines use. The characters \\ \" \n \r \t \a \b get
// these escapes; other bytes outside printable ASCII are written as \xhh. SplitQuoted reads this form.
std::string Quoted(Bytes text);                   // returns the text in double quotes, with escapes
void AppendQuoted(std::string& out, Bytes text);  // appends the text in double quotes, with escapes

// Splits a line into words, as Redis splits an inline request or a line of redis.conf. The line ends at its first NUL.
//   word   = plain characters, then at most one part in quotes ("double" or 'single'); either may be missing, as in
//            ab"c d", which is the word abc d
//   double = any bytes; escapes \xhh \n \r \t \b \a, and \c for any other c means c
//   single = any bytes; the only escape is \'
// A closing quote must be followed by white space or the end of the line, unless `after` is kAnything. Then the word
// continues with the text that follows, as in Valkey 9.1. An empty line has no words. Returns nullopt if a quote is not
// closed, or if other text follows a closing quote.
enum class AfterQuote : uint8_t { kSpace, kAnything };           // what may follow a closing quote
std::optional<std::vector<std::string>> SplitQuoted(Bytes line,  // the words of a line; nullopt: misplaced quotes
                                                    AfterQuote after = AfterQuote::kSpace);

// Quotes a word that is empty, begins with #, or contains a space, a quote, a backslash or bytes outside printable
// ASCII. (An unquoted # at the beginning of a line of redis.conf would make the whole line a comment.)
std::string QuotedIfNeeded(Bytes word);  // the word, in double quotes if it needs them
// Joins the words in one text, which SplitQuoted splits into the same words again.
template <typename Words>
std::string JoinQuoted(const Words& words) {  // joins words with spaces; quotes each as QuotedIfNeeded does
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += ' ';
    text += QuotedIfNeeded(word);
  }
  return text;
}

// Returns views of `text`. A part between two adjacent separators is empty.
std::vector<Bytes> SplitOn(Bytes text, char separator);  // the parts between separators, as views; at least one part

// FreeIfLarge is for a text or vector that is kept for reuse. A container that is not large keeps its elements. (The
// assignment `container = {}` would not free the memory.)
template <typename Container>
void FreeIfLarge(Container& container,  // empties and frees a container with room for over `max_kept` elements
                 size_t max_kept) {
  if (container.capacity() > max_kept) Container().swap(container);
}

Bytes TrimSpaces(Bytes text);  // the text without white space at either end

}  // namespace respite
