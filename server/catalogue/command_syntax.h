// Parses the syntax line of a command (CommandSpec::syntax). The line resembles Redis' usage lines. It defines the
// name, the arity and the whole tree `arguments` of COMMAND DOCS:
//
//   SET key value [condition(NX|XX)@2.6.12] [GET@6.2.0] [expiration(EX seconds:integer@2.6.12|KEEPTTL@6.0.0)]
//   CLIENT|LIST [TYPE client-type(NORMAL|MASTER|REPLICA|PUBSUB)@5.0.0] [ID client-id:integer@6.2.0...]
//   MSET data{key value}...
//
// Grammar (a single blank separates; no other blanks are allowed):
//
//   syntax   = name { ' ' item }                      name: `SET`, `JSON.SET`, or `CONTAINER|SUBCOMMAND`
//   item     = argument | '[' argument ']'            brackets: optional
//   argument = TOKEN suffix                           pure token, named as the token in lower case: `NX`
//            | name '=' TOKEN suffix                  pure token with another name: `change=CH`
//            | [ TOKEN [ '...' ] ' ' ] value suffix   `COUNT count:integer`; `GET... pattern`: the token repeats too
//   value    = name
//            | name '(' item { '|' item } ')'         one of
//            | name '{' item { ' ' item } '}'         block: all of them, in this order
//   suffix   = [ '<' display text '>' ]               where it differs from the name: `importing<node-id>`
//              [ ':' type ]                           integer double key pattern unix-time string pure-token
//              [ '#' n ]                              index of the key spec
//              [ '@' [ '~' ] since [ '-' deprecated since ] ]
//                                                     `@6.2.0`, `@-2.8.12`; each is a VersionMark: `@valkey:8.1.0`.
//                                                     `@~7.4.0`: COMMAND DOCS does not show this `since`
//              [ '...' ]                              may repeat
//   TOKEN    = capitals, digits, '-', '_', beginning with a capital; anything else in single quotes: `equal='='`
//
// Defaults: a value named `key` is a key, every other value is a string. The first key has key spec 0, the next key has
// key spec 1, and so on; `#n` sets another index, and the next key continues from there. A bare word in capitals is a
// token; a value with such a name must declare its type (`ID:string`). A pure token cannot directly precede a value,
// because both would be read as one argument (no command of Redis needs this).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "server/catalogue/version_mark.h"

namespace respite {

// The types of arguments, in the order of Redis' enumeration. ArgumentTypeName returns their names.
enum class ArgumentType : uint8_t {
  kString,
  kInteger,
  kDouble,
  kKey,
  kPattern,
  kUnixTime,
  kPureToken,
  kOneOf,
  kBlock,
};

std::string_view ArgumentTypeName(ArgumentType type);  // name of the type in COMMAND DOCS, such as "pure-token"

// One argument of a command. Its texts are views of the syntax line from which it was parsed.
struct SyntaxArgument {          // one argument, as a node of a command's argument tree
  std::string_view name;         // for a pure token without a name: the token, which COMMAND DOCS shows in lower case
  std::string_view token;        // fixed word such as EX; data() is null if the argument has none
  std::string_view display;      // display_text of COMMAND DOCS; empty: the same as `name` there
  VersionMark since;             // version that introduced this argument; empty: as old as the command
  bool hides_since = false;      // true: COMMAND DOCS does not show `since`
  VersionMark deprecated_since;  // version that deprecated this argument; empty: not deprecated
  ArgumentType type = ArgumentType::kString;
  int8_t key_spec = -1;         // index of the command's key spec that describes this key; -1: no key
  uint8_t size = 1;             // number of nodes in this subtree, including this node
  bool optional = false;        // the argument may be missing
  bool multiple = false;        // the argument may repeat
  bool multiple_token = false;  // the token repeats together with the argument
  bool named_by_token = false;  // the argument is only a token, and its name is the token in lower case

  // An argument may have an empty token (`empty-string=''`), so only a null pointer means that it has no token.
  constexpr bool HasToken() const { return token.data() != nullptr; }  // whether there is a fixed word, such as EX
};

// The tree of arguments is stored as an array, with each parent before its children. The next sibling of an argument is
// SyntaxArgument::size elements after the argument.
struct CommandSyntax {                         // the parsed syntax line of a command
  static constexpr size_t kMaxArguments = 64;  // a syntax line with more arguments is an error

  std::string_view container;  // container command, such as "CLIENT" of CLIENT|LIST; empty: this is no subcommand
  std::string_view name;
  std::array<SyntaxArgument, kMaxArguments> arguments{};  // tree of arguments: each parent before its children
  uint8_t count = 0;                                      // number of `arguments` in use
  bool valid = false;                                     // whether the syntax line is well-formed
  uint16_t error_offset = 0;                              // index in the line where parsing stopped, for messages

  constexpr std::span<const SyntaxArgument> Arguments() const { return {arguments.data(), count}; }  // arguments in use
  // Computes the arity: the number of arguments, including the name.
  constexpr int Arity() const;  // arity that the arguments imply; as in Redis, negative means "at least"
};

// Parses a syntax line. CardOf does this at compile time, so a command with an invalid line does not compile. Cost:
// O(length), no allocation.
constexpr CommandSyntax ParseSyntax(std::string_view syntax_line);  // parses a line; `valid` is false if malformed

constexpr int ArityOf(std::string_view text) {  // the arity that a syntax line implies; 0: the line is malformed
  const CommandSyntax syntax = ParseSyntax(text);
  return syntax.valid ? syntax.Arity() : 0;
}

// Returns "CLIENT" for the syntax line of CLIENT|LIST, and an empty text for a command that is not a subcommand.
constexpr std::string_view ContainerOf(std::string_view text) {  // CLIENT for CLIENT|LIST; empty: not a subcommand
  return ParseSyntax(text).container;
}

// Calls visit(const SyntaxArgument& argument, std::span<const SyntaxArgument> children) for each top-level argument in
// `nodes`: an argument that is not nested in another one. `children` are all arguments nested in `argument`, at any
// depth. ForEachArgument does not visit the children; `visit` may call ForEachArgument for them.
template <class Visitor>
constexpr void ForEachArgument(std::span<const SyntaxArgument> nodes,  // visits top-level arguments, not nested ones
                               Visitor&& visit) {
  for (size_t at = 0; at < nodes.size(); at += nodes[at].size)
    visit(nodes[at], nodes.subspan(at + 1, nodes[at].size - 1u));
}

// ---------------------------------------------------------------------------------------------------------------------
// Implementation of the constexpr part.

namespace syntax_internal {

constexpr bool IsCapital(char c) { return c >= 'A' && c <= 'Z'; }  // A to Z
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }    // a to z
constexpr bool IsWordChar(char c) {  // a character of words in syntax lines: letter, digit, '-' or '_'
  return IsCapital(c) || IsLower(c) || IsDigit(c) || c == '-' || c == '_';
}
constexpr bool IsInCapitals(std::string_view word) {  // begins with a capital and has no lower-case letters
  return !word.empty() && IsCapital(word[0]) && std::none_of(word.begin(), word.end(), IsLower);
}

// A recursive descent parser. After the first error, failed_ stays true, so the result is not valid.
class Parser {  // parses one syntax line
 public:
  constexpr explicit Parser(std::string_view text) : text_(text) {}

  constexpr CommandSyntax Parse();  // parses the whole line; `valid` is false for a malformed line

 private:
  constexpr char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  constexpr bool Skip(char c) {  // skips `c` and returns true; returns false if another character follows
    if (failed_ || Peek() != c) return false;
    ++at_;
    return true;
  }
  constexpr void Expect(char c) {  // skips `c`; if another character comes, sets failed_
    if (!Skip(c)) failed_ = true;
  }
  constexpr bool SkipEllipsis() {  // skips "..." and returns true; returns false if something else follows
    if (failed_ || text_.substr(at_, 3) != "...") return false;
    at_ += 3;
    return true;
  }

  constexpr size_t WordEnd(size_t from) const {  // position after the word that begins at `from`
    while (from < text_.size() && IsWordChar(text_[from])) ++from;
    return from;
  }
  constexpr std::string_view TakeWord() {  // reads a word; if there is none, sets failed_
    const size_t begin = at_;
    at_ = WordEnd(at_);
    if (at_ == begin) failed_ = true;
    return text_.substr(begin, at_ - begin);
  }
  constexpr std::string_view TakeName() {  // reads the name of a command, which may have a dot: JSON.SET
    const size_t begin = at_;
    TakeWord();
    if (Skip('.')) TakeWord();
    return text_.substr(begin, at_ - begin);
  }
  constexpr std::string_view TakeUntil(char close) {  // reads the text before `close`, and skips `close`
    const size_t end = std::min(text_.find(close, at_), text_.size());
    const std::string_view taken = text_.substr(at_, end - at_);
    at_ = end;
    Expect(close);
    return taken;
  }
  constexpr std::string_view TakeToken() { return Skip('\'') ? TakeUntil('\'') : TakeWord(); }  // reads EX or 'EX'
  constexpr VersionMark TakeMark() {  // reads a version such as 7.4.0; a malformed one sets failed_
    const VersionMark mark = text_.substr(at_, VersionMark::LengthIn(text_.substr(at_)));
    at_ += VersionMark::LengthIn(text_.substr(at_));
    if (!mark.IsWellFormed()) failed_ = true;
    return mark;
  }

  // Returns whether the word at `from` is the name of an argument, not a token. A word in capitals is a name only if
  // ':', '=', '(' or '{' follows it. Any other word is a name.
  constexpr bool NameStartsAt(size_t from) const;  // whether the word at `from` is a name, not a token

  constexpr void ParseItems(char separator) {  // reads all items up to the closing bracket or the end
    do ParseItem();
    while (Skip(separator));
  }
  constexpr void ParseItem();  // reads one argument; brackets make it optional

  constexpr void ParseArgument(size_t index);           // reads an argument into out_.arguments[index]
  constexpr void ParseToken(SyntaxArgument& argument);  // reads a token, and the name of its value if one follows
  constexpr void ParseValue(SyntaxArgument& argument);  // reads the alternatives or the block of a value, if any

  constexpr void ParseSuffix(SyntaxArgument& argument);  // reads <display>, :type, #key-spec, @since, ...
  constexpr void ParseType(SyntaxArgument& argument);    // reads the argument's type, such as `integer`
  constexpr int8_t ParseDigit() {  // reads one digit; if there is none, sets failed_ and returns -1
    if (!IsDigit(Peek())) failed_ = true;
    return failed_ ? int8_t{-1} : static_cast<int8_t>(text_[at_++] - '0');
  }

  std::string_view text_;
  size_t at_ = 0;             // position in text_
  int8_t next_key_spec_ = 0;  // index of the key spec of the next key, unless #n follows the key
  bool failed_ = false;       // true: the syntax line is malformed
  CommandSyntax out_;
};

constexpr CommandSyntax Parser::Parse() {  // parses the whole line
  out_.name = TakeName();
  if (Skip('|')) {
    out_.container = out_.name;
    out_.name = TakeWord();
  }
  if (Skip(' ')) ParseItems(' ');
  out_.valid = !failed_ && at_ == text_.size() && IsInCapitals(out_.name);
  out_.error_offset = static_cast<uint16_t>(at_);
  return out_;
}

constexpr bool Parser::NameStartsAt(size_t from) const {  // whether the word at `from` is a name, not a token
  const size_t end = WordEnd(from);
  if (end == from) return false;
  const char next = end < text_.size() ? text_[end] : '\0';
  return next == ':' || next == '=' || next == '(' || next == '{' || !IsInCapitals(text_.substr(from, end - from));
}

constexpr void Parser::ParseItem() {  // reads one argument; brackets make it optional
  if (out_.count == CommandSyntax::kMaxArguments) failed_ = true;
  if (failed_) return;
  const bool optional = Skip('[');
  const size_t index = out_.count++;
  ParseArgument(index);
  if (optional) Expect(']');
  out_.arguments[index].optional = optional;
  out_.arguments[index].size = static_cast<uint8_t>(out_.count - index);
}

constexpr void Parser::ParseArgument(size_t index) {  // reads an argument into out_.arguments[index]
  SyntaxArgument& argument = out_.arguments[index];
  if (NameStartsAt(at_)) {
    argument.name = TakeWord();
    if (Skip('=')) {
      argument.token = TakeToken();
      argument.type = ArgumentType::kPureToken;
    }
  } else {
    ParseToken(argument);
  }
  if (argument.type != ArgumentType::kPureToken) ParseValue(argument);
  ParseSuffix(argument);
}

constexpr void Parser::ParseToken(SyntaxArgument& argument) {  // reads a token, and the name of its value, if any
  argument.token = TakeToken();
  argument.multiple = argument.multiple_token = SkipEllipsis();
  if (Peek() == ' ' && NameStartsAt(at_ + 1)) {
    ++at_;
    argument.name = TakeWord();
    return;
  }
  argument.name = argument.token;
  argument.named_by_token = true;
  argument.type = ArgumentType::kPureToken;
}

constexpr void Parser::ParseValue(SyntaxArgument& argument) {  // reads (alternatives) or a {block}, if any
  if (Skip('(')) {
    argument.type = ArgumentType::kOneOf;
    ParseItems('|');
    Expect(')');
  } else if (Skip('{')) {
    argument.type = ArgumentType::kBlock;
    ParseItems(' ');
    Expect('}');
  } else if (argument.name == "key") {
    argument.type = ArgumentType::kKey;
  }
}

constexpr void Parser::ParseSuffix(SyntaxArgument& argument) {  // reads <display>, :type, #key-spec, @since, ...
  if (Skip('<')) argument.display = TakeUntil('>');
  if (Skip(':')) ParseType(argument);
  if (argument.type == ArgumentType::kKey) argument.key_spec = next_key_spec_;
  if (Skip('#')) argument.key_spec = ParseDigit();
  if (argument.type == ArgumentType::kKey) next_key_spec_ = static_cast<int8_t>(argument.key_spec + 1);
  if (Skip('@')) {
    argument.hides_since = Skip('~');
    argument.since = TakeMark();
    if (Skip('-')) argument.deprecated_since = TakeMark();
  }
  if (SkipEllipsis()) argument.multiple = true;
}

constexpr void Parser::ParseType(SyntaxArgument& argument) {  // reads the argument's type, such as `integer`
  constexpr std::array<std::string_view, 7> kNames = {"string",  "integer",   "double",    "key",
                                                      "pattern", "unix-time", "pure-token"};
  const auto found = std::find(kNames.begin(), kNames.end(), TakeWord());
  if (found == kNames.end()) failed_ = true;
  argument.type = static_cast<ArgumentType>(found - kNames.begin());
}

struct Width {          // how many words an argument has in a request: the minimum, and if more are possible
  int words = 0;        // the minimum number of words
  bool varies = false;  // true: there may be more words than the minimum
};

constexpr Width WidthOf(const SyntaxArgument& argument,  // how many words the argument and its token need
                        std::span<const SyntaxArgument> children);

constexpr Width WidthOfAll(std::span<const SyntaxArgument> nodes) {  // the width of these arguments together
  Width all;
  ForEachArgument(nodes, [&](const SyntaxArgument& node, std::span<const SyntaxArgument> children) {
    const Width one = WidthOf(node, children);
    all.words += one.words;
    all.varies = all.varies || one.varies;
  });
  return all;
}

constexpr Width WidthOfOneOf(std::span<const SyntaxArgument> nodes) {  // the width of one of these alternatives
  Width narrowest{-1};
  ForEachArgument(nodes, [&](const SyntaxArgument& node, std::span<const SyntaxArgument> children) {
    const Width one = WidthOf(node, children);
    if (narrowest.words < 0) narrowest = one;
    narrowest.varies = narrowest.varies || one.varies || one.words != narrowest.words;
    narrowest.words = std::min(narrowest.words, one.words);
  });
  return narrowest;
}

constexpr Width WidthOf(const SyntaxArgument& argument,  // how many words the argument and its token need
                        std::span<const SyntaxArgument> children) {
  if (argument.optional) return {0, true};
  Width width = {argument.HasToken() ? 1 : 0, argument.multiple};
  Width value = {1, false};
  if (argument.type == ArgumentType::kOneOf) value = WidthOfOneOf(children);
  if (argument.type == ArgumentType::kBlock) value = WidthOfAll(children);
  if (argument.type == ArgumentType::kPureToken) value.words = argument.HasToken() ? 0 : 1;
  return {width.words + value.words, width.varies || value.varies};
}

}  // namespace syntax_internal

constexpr CommandSyntax ParseSyntax(std::string_view text) {  // parses the syntax line of a command
  return syntax_internal::Parser(text).Parse();
}

constexpr int CommandSyntax::Arity() const {  // also counts the name; as in Redis, negative means "at least"
  const syntax_internal::Width arguments_width = syntax_internal::WidthOfAll(Arguments());
  const int words = arguments_width.words + (container.empty() ? 1 : 2);
  return arguments_width.varies ? -words : words;
}

}  // namespace respite
