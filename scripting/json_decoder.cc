// Decodes JSON to Lua values, for cjson.decode (lib_cjson.h).
//
// Lua's texts end with a zero byte, so the decoder can always read the next byte without a bounds check.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/bytes.h"
#include "scripting/lib_cjson.h"
#include "scripting/lib_support.h"
#include "scripting/lua51.h"

namespace respite {
namespace {

enum class Token : uint8_t {
  kObjectBegin,
  kObjectEnd,
  kArrayBegin,
  kArrayEnd,
  kText,
  kNumber,
  kBoolean,
  kNull,
  kColon,
  kComma,
  kEnd,
  kBlank,
  kWord,  // a number, true, false or null; ReadWord decides which
  kError
};

// The names of tokens in error messages.
constexpr std::array<const char*, 11> kTokenNames = {"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END",
                                                     "T_STRING",    "T_NUMBER",  "T_BOOLEAN",   "T_NULL",
                                                     "T_COLON",     "T_COMMA",   "T_END"};

constexpr std::array<Token, 256> kTokens = [] {
  std::array<Token, 256> tokens{};
  tokens.fill(Token::kError);
  for (char c : Bytes("fiInNt+-0123456789")) tokens[static_cast<uint8_t>(c)] = Token::kWord;
  for (char c : Bytes(" \t\n\r")) tokens[static_cast<uint8_t>(c)] = Token::kBlank;
  tokens['"'] = Token::kText;
  tokens['{'] = Token::kObjectBegin;
  tokens['}'] = Token::kObjectEnd;
  tokens['['] = Token::kArrayBegin;
  tokens[']'] = Token::kArrayEnd;
  tokens[':'] = Token::kColon;
  tokens[','] = Token::kComma;
  tokens['\0'] = Token::kEnd;
  return tokens;
}();

// The character that a letter after a backslash means; 0: none. 'u' is handled separately.
constexpr std::array<char, 256> kEscaped = [] {
  std::array<char, 256> escaped{};
  escaped['"'] = '"';
  escaped['\\'] = '\\';
  escaped['/'] = '/';
  escaped['b'] = '\b';
  escaped['t'] = '\t';
  escaped['n'] = '\n';
  escaped['f'] = '\f';
  escaped['r'] = '\r';
  return escaped;
}();

// Returns the value of four hexadecimal digits, or -1 if one is invalid. Reads nothing after the first invalid digit.
int HexNumber(const char* digits) {
  int number = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = LowerChar(digits[i]);
    if (IsDigit(c)) {
      number = number * 16 + (c - '0');
    } else if (c >= 'a' && c <= 'f') {
      number = number * 16 + (c - 'a' + 10);
    } else {
      return -1;
    }
  }
  return number;
}

class Decoder {
 public:
  Decoder(lua_State* lua, const JsonConfig& config, const char* text)
      : lua_(lua), config_(config), work_(lua), begin_(text), next_(text), unescaped_(lua) {}

  void PushDocument() {
    PushValue(NextToken());
    const Token behind = NextToken();
    if (behind != Token::kEnd) Refuse("the end", behind);
  }

 private:
  // --- Tokens ---

  // Reads the next token. Stores the value of a text, number or boolean in text_, number_ or boolean_.
  Token NextToken() {
    Token token = kTokens[static_cast<uint8_t>(*next_)];
    while (token == Token::kBlank) token = kTokens[static_cast<uint8_t>(*++next_)];
    token_begin_ = next_;
    switch (token) {
      case Token::kText:
        return ReadText();
      case Token::kWord:
        return ReadWord();
      case Token::kError:
        return Fail("invalid token");
      case Token::kEnd:
        return token;
      default:
        ++next_;
        return token;
    }
  }

  Token Fail(const char* error) {
    error_ = error;
    token_begin_ = next_;
    return Token::kError;
  }

  Token ReadWord() {
    const char first = *next_;
    if (first == '-' || IsDigit(first)) {
      if (!config_.decode_invalid_numbers && IsInvalidNumber()) return Fail("invalid number");
      return ReadNumber();
    }
    if (Skip("true")) return ReadBoolean(1);
    if (Skip("false")) return ReadBoolean(0);
    if (Skip("null")) return Token::kNull;
    if (config_.decode_invalid_numbers && IsInvalidNumber()) return ReadOddNumber();
    return Fail("invalid token");
  }

  bool Skip(Bytes word) {
    if (std::strncmp(next_, word.data(), word.size()) != 0) return false;
    next_ += word.size();
    return true;
  }

  Token ReadBoolean(int value) {
    boolean_ = value;
    return Token::kBoolean;
  }

  // Returns true for these numbers, which strtod() accepts and JSON does not: a plus, hexadecimal, leading zeros,
  // infinity, NaN.
  bool IsInvalidNumber() const {
    if (*next_ == '+') return true;
    const char* digits = *next_ == '-' ? next_ + 1 : next_;
    if (*digits == '0') return LowerChar(digits[1]) == 'x' || IsDigit(digits[1]);
    const Bytes start(digits, strnlen(digits, 3));
    return EqualsIgnoreCase(start, "inf") || EqualsIgnoreCase(start, "nan");
  }

  // Returns true if the number at next_ is longer than kMaxNumeralBytes. Such a number is refused, because a script
  // cannot be ended (SCRIPT KILL) while one number is converted.
  bool IsTooLong() const {
    const auto may_belong = [](char c) {
      return IsDigit(c) || (LowerChar(c) >= 'a' && LowerChar(c) <= 'z') || c == '.' || c == '+' || c == '-';
    };
    const char* end = next_;
    while (may_belong(*end)) {
      if (static_cast<size_t>(++end - next_) > lua51::kMaxNumeralBytes) return true;
    }
    return false;
  }

  Token ReadNumber() {
    const char* digits = *next_ == '-' ? next_ + 1 : next_;
    if (!IsDigit(*digits) || (*digits == '0' && LowerChar(digits[1]) == 'x')) return ReadOddNumber();
    // An integer of at most this many digits is exact in a double.
    constexpr int kExactDigits = 15;
    const char* end = digits;
    int64_t integer = 0;
    while (IsDigit(*end) && end - digits < kExactDigits) integer = integer * 10 + (*end++ - '0');
    if (!IsDigit(*end) && *end != '.' && LowerChar(*end) != 'e') {
      number_ = static_cast<double>(integer);
      if (*next_ == '-') number_ = -number_;
      next_ = end;
      return Token::kNumber;
    }
    if (IsTooLong()) return Fail("invalid number");
    while (IsDigit(*end) || *end == '.' || *end == '+' || *end == '-' || LowerChar(*end) == 'e') ++end;
    const std::from_chars_result result = std::from_chars(next_, end, number_);
    if (result.ec != std::errc()) return ReadOddNumber();
    next_ = result.ptr;
    return Token::kNumber;
  }

  // Reads a number of any form that strtod() accepts, including one that overflows.
  Token ReadOddNumber() {
    if (IsTooLong()) return Fail("invalid number");
    char* end = nullptr;
    number_ = std::strtod(next_, &end);
    if (end == next_) return Fail("invalid number");
    next_ = end;
    return Token::kNumber;
  }

  // --- Texts ---

  static bool IsPlain(char c) { return c != '"' && c != '\\' && c != '\0'; }

  Token ReadText() {
    const char* plain = ++next_;
    while (IsPlain(*next_)) ++next_;
    if (*next_ == '"') {
      text_ = Bytes(plain, static_cast<size_t>(next_ - plain));
      ++next_;
      return Token::kText;
    }
    unescaped_.Clear();
    while (*next_ != '"') {
      work_.Step();
      unescaped_.Append(Bytes(plain, static_cast<size_t>(next_ - plain)));
      if (*next_ == '\0') return Fail("unexpected end of string");
      if (const char* error = ReadEscape()) return Fail(error);
      plain = next_;
      while (IsPlain(*next_)) ++next_;
    }
    unescaped_.Append(Bytes(plain, static_cast<size_t>(next_ - plain)));
    ++next_;
    text_ = unescaped_.View();
    return Token::kText;
  }

  // Reads an escape sequence. Returns null on success; otherwise returns the error and does not advance.
  const char* ReadEscape() {
    const char letter = next_[1];
    if (letter == 'u') return ReadUnicodeEscape();
    const char meaning = kEscaped[static_cast<uint8_t>(letter)];
    if (meaning == 0) return "invalid escape code";
    unescaped_.Append(meaning);
    next_ += 2;
    return nullptr;
  }

  const char* ReadUnicodeEscape() {
    constexpr const char* kError = "invalid unicode escape code";
    constexpr ptrdiff_t kSize = 6;  // \uxxxx
    const int first = HexNumber(next_ + 2);
    if (first < 0) return kError;
    if (first < 0xd800 || first > 0xdfff) {
      AppendUtf8(static_cast<uint32_t>(first));
      next_ += kSize;
      return nullptr;
    }
    // Refuses half a surrogate pair: the first surrogate must be below 0xdc00, and a second one must follow.
    if (first >= 0xdc00 || next_[kSize] != '\\' || next_[kSize + 1] != 'u') return kError;
    const int second = HexNumber(next_ + kSize + 2);
    if (second < 0xdc00 || second > 0xdfff) return kError;
    AppendUtf8(0x10000 + (static_cast<uint32_t>(first - 0xd800) << 10 | static_cast<uint32_t>(second - 0xdc00)));
    next_ += 2 * kSize;
    return nullptr;
  }

  void AppendUtf8(uint32_t codepoint) {
    const auto last = [&](int shift) { return static_cast<char>(0x80 | (codepoint >> shift & 0x3f)); };
    if (codepoint < 0x80) return unescaped_.Append(static_cast<char>(codepoint));
    if (codepoint < 0x800) {
      unescaped_.Append(static_cast<char>(0xc0 | codepoint >> 6));
    } else {
      if (codepoint < 0x10000) {
        unescaped_.Append(static_cast<char>(0xe0 | codepoint >> 12));
      } else {
        unescaped_.Append(static_cast<char>(0xf0 | codepoint >> 18));
        unescaped_.Append(last(12));
      }
      unescaped_.Append(last(6));
    }
    unescaped_.Append(last(0));
  }

  // --- Values ---

  void PushValue(Token token) {
    switch (token) {
      case Token::kText:
        return static_cast<void>(PushText());
      case Token::kNumber:
        return lua_pushnumber(lua_, number_);
      case Token::kBoolean:
        return lua_pushboolean(lua_, boolean_);
      case Token::kNull:
        return lua_pushlightuserdata(lua_, nullptr);
      case Token::kObjectBegin:
        return PushObject();
      case Token::kArrayBegin:
        return PushArray();
      default:
        Refuse("value", token);
    }
  }

  void PushText() { PushBytes(lua_, text_); }

  // The maximum number of items for which a new table reserves room. A table gets room for as many items as the
  // previous object (or array) had, because siblings are often alike and growing costs more than filling. The maximum
  // is small, so that a short text cannot request much more memory than its values need.
  static constexpr int kMaxExpected = 16;

  void PushObject() {
    Descend(3);
    Token token = NextToken();
    if (token == Token::kObjectEnd) {
      lua_createtable(lua_, 0, 0);
    } else {
      lua_createtable(lua_, 0, expected_fields_);
      int fields = 1;
      PushMember(token);
      for (; (token = NextToken()) == Token::kComma; ++fields) PushMember(NextToken());
      if (token != Token::kObjectEnd) Refuse("comma or object end", token);
      expected_fields_ = std::min(fields, kMaxExpected);
    }
    --depth_;
  }

  // Reads one member of an object into the table on top of the stack.
  void PushMember(Token key) {
    work_.Step();
    if (key != Token::kText) Refuse("object key string", key);
    PushText();
    const Token colon = NextToken();
    if (colon != Token::kColon) Refuse("colon", colon);
    PushValue(NextToken());
    lua_rawset(lua_, -3);
  }

  void PushElement(Token token, lua_Integer index) {
    work_.Step();
    PushValue(token);
    lua_rawseti(lua_, -2, index);
  }

  void PushArray() {
    Descend(2);
    Token token = NextToken();
    if (token == Token::kArrayEnd) {
      lua_createtable(lua_, 0, 0);
    } else {
      lua_createtable(lua_, expected_elements_, 0);
      lua_Integer size = 1;
      PushElement(token, size);
      while ((token = NextToken()) == Token::kComma) PushElement(NextToken(), ++size);
      if (token != Token::kArrayEnd) Refuse("comma or array end", token);
      expected_elements_ = static_cast<int>(std::min<lua_Integer>(size, kMaxExpected));
    }
    if (config_.decode_marks_arrays) {
      PushJsonArrayMetatable(lua_);
      lua_setmetatable(lua_, -2);
    }
    --depth_;
  }

  void Descend(size_t slots) {
    ++depth_;
    if (depth_ <= config_.decode_max_depth && ReserveStackSlots(lua_, slots)) return;
    luaL_error(lua_, "Found too many nested data structures (%d) at character %d", depth_,
               static_cast<int>(next_ - begin_));
  }

  void Refuse(const char* expected, Token found) {
    const char* name = found == Token::kError ? error_ : kTokenNames[static_cast<size_t>(found)];
    luaL_error(lua_, "Expected %s but found %s at character %d", expected, name,
               static_cast<int>(token_begin_ - begin_) + 1);
  }

  lua_State* lua_;
  const JsonConfig& config_;
  WorkCounter work_;
  const char* const begin_;
  const char* next_;
  const char* token_begin_ = nullptr;
  const char* error_ = nullptr;
  int depth_ = 0;
  int expected_fields_ = 1;
  int expected_elements_ = 1;
  int boolean_ = 0;
  double number_ = 0;
  Bytes text_;
  LuaBuffer unescaped_;
};

}  // namespace

void DecodeJson(lua_State* lua, const JsonConfig& config, int index) {
  size_t size = 0;
  const char* text = luaL_checklstring(lua, index, &size);
  if (size >= 2 && (text[0] == '\0' || text[1] == '\0')) {
    luaL_error(lua, "JSON parser does not support UTF-16 or UTF-32");
  }
  Decoder(lua, config, text).PushDocument();
}

}  // namespace respite
