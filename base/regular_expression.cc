#include "base/regular_expression.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace respite {

namespace {

using ByteSet = std::bitset<256>;

// The error texts of TRE, the library that Redis uses.
constexpr const char* kBadPattern = "Invalid regexp";
constexpr const char* kBadCollation = "Unknown collating element";
constexpr const char* kBadClass = "Unknown character class name";
constexpr const char* kTrailingBackslash = "Trailing backslash";
constexpr const char* kBadReference = "Invalid back reference";
constexpr const char* kNoBracket = "Missing ']'";
constexpr const char* kNoParenthesis = "Missing ')'";
constexpr const char* kNoBrace = "Missing '}'";
constexpr const char* kBadBraces = "Invalid contents of {}";
constexpr const char* kBadRange = "Invalid character range";
constexpr const char* kTooLarge = "Out of memory";
constexpr const char* kBadRepetition = "Invalid use of repetition operators";

constexpr int kMaxRepetitions = 255;
constexpr int kUnlimited = -1;
constexpr int kMaxDepth = 250;              // groups inside groups; more could exhaust the stack
constexpr int kMaxRepeatedRepetitions = 4;  // repeated repetitions, as in a**; each takes as much stack as a group

bool IsWordByte(char c) { return IsDigit(c) || (LowerChar(c) >= 'a' && LowerChar(c) <= 'z') || c == '_'; }

template <class Predicate>
ByteSet SetOf(Predicate predicate) {
  ByteSet set;
  for (int c = 0; c < 256; ++c) set[static_cast<size_t>(c)] = predicate(static_cast<char>(c));
  return set;
}

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }
bool IsLetterOrDigit(char c) { return IsLetter(c) || IsDigit(c); }
bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsControlByte(char c) { return (c >= 0 && c < ' ') || c == 127; }
bool IsGraph(char c) { return c > ' ' && c <= '~'; }
bool IsPunctuation(char c) { return IsGraph(c) && !IsLetterOrDigit(c); }
bool IsHexDigit(char c) { return IsDigit(c) || (LowerChar(c) >= 'a' && LowerChar(c) <= 'f'); }

struct CharacterClass {
  std::string_view name;
  bool (*contains)(char c);
};
constexpr std::array<CharacterClass, 12> kClasses = {{{"alnum", IsLetterOrDigit},
                                                      {"alpha", IsLetter},
                                                      {"blank", IsBlank},
                                                      {"cntrl", IsControlByte},
                                                      {"digit", IsDigit},
                                                      {"graph", IsGraph},
                                                      {"lower", IsLower},
                                                      {"print", IsPrintable},
                                                      {"punct", IsPunctuation},
                                                      {"space", IsSpace},
                                                      {"upper", IsUpper},
                                                      {"xdigit", IsHexDigit}}};

// Returns the set and, for each letter in it, also the letter in the other case.
ByteSet WithBothCases(const ByteSet& set) {
  ByteSet both = set;
  for (char c = 'a'; c <= 'z'; ++c) {
    const auto lower = static_cast<size_t>(c);
    const auto upper = static_cast<size_t>(UpperChar(c));
    both[lower] = both[upper] = set[lower] || set[upper];
  }
  return both;
}

// One node of the syntax tree of an expression.
struct Node {
  enum class Kind : uint8_t { kEmpty, kSet, kAssertion, kSequence, kChoice, kRepetition };

  Kind kind = Kind::kEmpty;
  bool is_byte = false;  // kSet: the set has one member, which is `operand`
  uint16_t operand = 0;  // kSet: the only member, or the index of the set in `sets`
  int assertion = 0;     // kAssertion: a RegularExpression::Operation
  int min = 0;           // kRepetition: the least number of repetitions
  int max = 0;           // kRepetition: the greatest number; kUnlimited: any number
  std::vector<std::unique_ptr<Node>> parts = {};
};
using NodePtr = std::unique_ptr<Node>;

NodePtr NewNode(Node::Kind kind) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  return node;
}

// The exception for a malformed expression; RegularExpression::Compile catches it.
struct Malformed {
  const char* why;
};

}  // namespace

class RegularExpressionParser {
 public:
  // Parse appends the byte sets of the expression, such as [a-z], to `sets`.
  RegularExpressionParser(Bytes pattern, CaseMode mode, std::vector<ByteSet>& sets)
      : rest_(pattern), ignores_case_(mode == CaseMode::kIgnore), sets_(sets) {}

  NodePtr Parse() {
    NodePtr root = TakeChoice(0);
    if (!rest_.empty()) throw Malformed{kNoParenthesis};  // a closing parenthesis without an opening one
    if (greatest_reference_ > groups_) throw Malformed{kBadReference};
    if (greatest_reference_ > 0) throw Malformed{RegularExpression::kHasBackReference};
    return root;
  }

 private:
  using Operation = RegularExpression::Operation;

  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  char TakeByte() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  NodePtr TakeChoice(int depth) {
    if (depth > kMaxDepth) throw Malformed{kTooLarge};
    NodePtr choice = NewNode(Node::Kind::kChoice);
    do {
      choice->parts.push_back(TakeSequence(depth));
    } while (Take("|"));
    return choice;
  }

  NodePtr TakeSequence(int depth) {
    NodePtr sequence = NewNode(Node::Kind::kSequence);
    while (!rest_.empty() && (is_quoting_ || (rest_.front() != '|' && rest_.front() != ')'))) {
      NodePtr part = TakeAtom(depth);
      for (int count = 1; !is_quoting_ && TakesRepetition(); ++count) {
        if (count > kMaxRepeatedRepetitions) throw Malformed{kTooLarge};
        part = TakeRepetition(std::move(part));
      }
      sequence->parts.push_back(std::move(part));
    }
    return sequence;
  }

  bool TakesRepetition() const {
    return !rest_.empty() &&
           (rest_.front() == '*' || rest_.front() == '+' || rest_.front() == '?' || rest_.front() == '{');
  }

  NodePtr TakeRepetition(NodePtr repeated) {
    NodePtr node = NewNode(Node::Kind::kRepetition);
    const char c = TakeByte();
    node->min = c == '+' ? 1 : 0;
    node->max = c == '?' ? 1 : kUnlimited;
    if (c == '{') TakeBounds(*node);
    Take("?");  // a lazy repetition such as a*? matches the same texts as a*
    node->parts.push_back(std::move(repeated));
    return node;
  }

  std::optional<int> TakeNumber() {
    std::optional<int> number;
    while (!rest_.empty() && IsDigit(rest_.front())) {
      number = number.value_or(0) * 10 + (TakeByte() - '0');
      if (*number > kMaxRepetitions) throw Malformed{kBadBraces};
    }
    return number;
  }

  void TakeBounds(Node& node) {
    const std::optional<int> min = TakeNumber();
    std::optional<int> max = min;
    if (Take(",")) {
      max = TakeNumber();
    } else if (!min) {
      throw Malformed{rest_.empty() ? kNoBrace : kBadBraces};
    }
    if (rest_.empty()) throw Malformed{kNoBrace};
    if (!Take("}") || (max && *max < min.value_or(0))) throw Malformed{kBadBraces};
    node.min = min.value_or(0);
    node.max = max.value_or(kUnlimited);
  }

  NodePtr TakeAtom(int depth) {
    if (is_quoting_) return TakeQuoted();
    const char c = TakeByte();
    switch (c) {
      case '.':
        return SetNode(ByteSet().set());
      case '[':
        return TakeBracket();
      case '(':
        return TakeGroup(depth);
      case '^':
        return Assertion(Operation::kTextBegin);
      case '$':
        return Assertion(Operation::kTextEnd);
      case '\\':
        return TakeEscape();
      case '*':
      case '+':
      case '?':
      case '{':
        throw Malformed{kBadRepetition};
      default:
        return Literal(c);
    }
  }

  NodePtr SetNode(const ByteSet& set) {
    NodePtr node = NewNode(Node::Kind::kSet);
    node->is_byte = set.count() == 1;
    node->operand = static_cast<uint16_t>(sets_.size());
    if (node->is_byte) {
      node->operand = 0;
      while (!set[node->operand]) ++node->operand;
    } else if (sets_.size() < RegularExpression::kMaxInstructions) {
      sets_.push_back(set);
    } else {
      throw Malformed{kTooLarge};
    }
    return node;
  }

  NodePtr Literal(char c) {
    ByteSet set;
    set.set(static_cast<uint8_t>(c));
    return SetNode(ignores_case_ ? WithBothCases(set) : set);
  }

  static NodePtr Assertion(Operation operation) {
    NodePtr node = NewNode(Node::Kind::kAssertion);
    node->assertion = static_cast<int>(operation);
    return node;
  }

  NodePtr TakeQuoted() {
    if (!Take("\\E")) return Literal(TakeByte());
    is_quoting_ = false;
    return NewNode(Node::Kind::kEmpty);
  }

  NodePtr TakeGroup(int depth) {
    const bool outer_case = ignores_case_;
    if (Take("?")) {
      if (TakeFlags()) return NewNode(Node::Kind::kEmpty);
    } else {
      ++groups_;
    }
    NodePtr inner = TakeChoice(depth + 1);
    if (!Take(")")) throw Malformed{kNoParenthesis};
    ignores_case_ = outer_case;
    return inner;
  }

  // Reads the flags in "(?i-i:x)" or "(?i)", after the question mark. Returns true if ")" ends the flags: they then
  // hold until the surrounding group ends. Returns false if ":" ends them. Ignores the flags r and U of TRE, because
  // they do not change whether a text matches. Refuses the flag n and all other letters.
  bool TakeFlags() {
    bool value = true;
    while (!rest_.empty()) {
      switch (TakeByte()) {
        case 'i':
          ignores_case_ = value;
          break;
        case 'r':
        case 'U':
          break;
        case '-':
          value = false;
          break;
        case ':':
          return false;
        case ')':
          return true;
        default:
          throw Malformed{kBadPattern};
      }
    }
    throw Malformed{kNoParenthesis};
  }

  NodePtr TakeEscape() {
    if (rest_.empty()) throw Malformed{kTrailingBackslash};
    const char c = TakeByte();
    switch (c) {
      case 'w':
        return SetNode(SetOf(IsWordByte));
      case 'W':
        return SetNode(~SetOf(IsWordByte));
      case 'd':
        return SetNode(SetOf(IsDigit));
      case 'D':
        return SetNode(~SetOf(IsDigit));
      case 's':
        return SetNode(SetOf(IsSpace));
      case 'S':
        return SetNode(~SetOf(IsSpace));
      case '<':
        return Assertion(Operation::kWordBegin);
      case '>':
        return Assertion(Operation::kWordEnd);
      case 'b':
        return Assertion(Operation::kWordEdge);
      case 'B':
        return Assertion(Operation::kNoWordEdge);
      case 'Q':
        is_quoting_ = true;
        return NewNode(Node::Kind::kEmpty);
      default:
        return TakeEscapedByte(c);
    }
  }

  NodePtr TakeEscapedByte(char c) {
    constexpr std::string_view kNames = "ntrfae";
    constexpr std::string_view kBytes = "\n\t\r\f\a\033";
    const size_t at = kNames.find(c);
    if (at != std::string_view::npos) return Literal(kBytes[at]);
    if (c == 'x') return Literal(TakeHexByte());
    if (c < '1' || c > '9') return Literal(c);
    greatest_reference_ = std::max(greatest_reference_, c - '0');
    return NewNode(Node::Kind::kEmpty);
  }

  char TakeHexByte() {
    const bool has_braces = Take("{");
    const size_t max_digits = has_braces ? 8 : 2;
    uint32_t value = 0;
    for (size_t digits = 0; digits < max_digits && !rest_.empty() && IsHexDigit(rest_.front()); ++digits) {
      const char c = TakeByte();
      value = value * 16 + static_cast<uint32_t>(IsDigit(c) ? c - '0' : LowerChar(c) - 'a' + 10);
    }
    if (has_braces && !Take("}")) throw Malformed{kNoBrace};
    if (value > 255) throw Malformed{kBadPattern};  // no byte has this number
    return static_cast<char>(value);
  }

  NodePtr TakeBracket() {
    const bool is_negated = Take("^");
    ByteSet set;
    for (bool is_first = true; is_first || !rest_.starts_with(']'); is_first = false) {
      if (rest_.empty()) throw Malformed{kNoBracket};
      if (Take("[:")) {
        set |= TakeClass();
      } else {
        TakeRange(set);
      }
    }
    rest_.remove_prefix(1);
    if (ignores_case_) set = WithBothCases(set);
    return SetNode(is_negated ? ~set : set);
  }

  ByteSet TakeClass() {
    const size_t end = rest_.find(":]");
    if (end == Bytes::npos) throw Malformed{kBadClass};
    const Bytes name = rest_.substr(0, end);
    const auto* found = std::ranges::find(kClasses, name, &CharacterClass::name);
    if (found == kClasses.end()) throw Malformed{kBadClass};
    rest_.remove_prefix(end + 2);
    return SetOf(found->contains);
  }

  void TakeRange(ByteSet& set) {
    if (rest_.starts_with("[.") || rest_.starts_with("[=")) throw Malformed{kBadCollation};
    const auto first = static_cast<uint8_t>(TakeByte());
    uint8_t last = first;
    if (rest_.size() >= 2 && rest_[0] == '-' && rest_[1] != ']') {
      TakeByte();
      if (rest_.starts_with("[.") || rest_.starts_with("[=")) throw Malformed{kBadCollation};
      last = static_cast<uint8_t>(TakeByte());
    }
    if (last < first) throw Malformed{kBadRange};
    for (size_t c = first; c <= last; ++c) set.set(c);
  }

  Bytes rest_;  // the part of the pattern that is not parsed yet
  bool ignores_case_;
  std::vector<ByteSet>& sets_;
  bool is_quoting_ = false;     // true: between \Q and \E
  int groups_ = 0;              // number of groups so far
  int greatest_reference_ = 0;  // greatest number of a group to which a back reference refers; 0: there is none
};

class RegularExpressionCompiler {
 public:
  explicit RegularExpressionCompiler(RegularExpression& result) : result_(result) {}

  void Compile(const Node& root) {
    const uint32_t match = Add({Operation::kMatch, 0, 0, 0});
    result_.start_ = Compile(root, match);
  }

 private:
  using Operation = RegularExpression::Operation;

  uint32_t Add(const RegularExpression::Instruction& instruction) {
    if (result_.program_.size() >= RegularExpression::kMaxInstructions) throw Malformed{kTooLarge};
    result_.program_.push_back(instruction);
    return static_cast<uint32_t>(result_.program_.size() - 1);
  }

  // Compiles one part of the expression. `next` is the instruction that will run after the part. Returns the first
  // instruction of the part.
  uint32_t Compile(const Node& node, uint32_t next) {
    // Limits the time of compiling. The limit kMaxInstructions is not enough, because repetitions of an empty group add
    // no instructions.
    if (++steps_ > 8 * RegularExpression::kMaxInstructions) throw Malformed{kTooLarge};
    switch (node.kind) {
      case Node::Kind::kEmpty:
        return next;
      case Node::Kind::kSet:
        return Add({node.is_byte ? Operation::kByte : Operation::kSet, node.operand, next, 0});
      case Node::Kind::kAssertion:
        return Add({static_cast<Operation>(node.assertion), 0, next, 0});
      case Node::Kind::kSequence:
        for (size_t i = node.parts.size(); i > 0; --i) next = Compile(*node.parts[i - 1], next);
        return next;
      case Node::Kind::kChoice:
        return CompileChoice(node, next);
      case Node::Kind::kRepetition:
        return CompileRepetition(node, next);
    }
    return next;
  }

  uint32_t CompileChoice(const Node& node, uint32_t next) {
    uint32_t entry = Compile(*node.parts.back(), next);
    for (size_t i = node.parts.size() - 1; i > 0; --i) {
      const uint32_t part = Compile(*node.parts[i - 1], next);
      entry = Add({Operation::kSplit, 0, part, entry});
    }
    return entry;
  }

  uint32_t CompileRepetition(const Node& node, uint32_t next) {
    const Node& part = *node.parts.front();
    uint32_t entry = next;
    if (node.max == kUnlimited) {
      entry = Add({Operation::kSplit, 0, next, next});
      const uint32_t body = Compile(part, entry);
      result_.program_[entry].next = body;
    }
    for (int i = node.min; i < node.max; ++i) {
      const uint32_t body = Compile(part, entry);
      entry = Add({Operation::kSplit, 0, body, next});
    }
    for (int i = 0; i < node.min; ++i) entry = Compile(part, entry);
    return entry;
  }

  RegularExpression& result_;
  size_t steps_ = 0;  // number of calls of Compile
};

Result<RegularExpression, const char*> RegularExpression::Compile(Bytes pattern, CaseMode mode) {
  RegularExpression result;
  try {
    const NodePtr root = RegularExpressionParser(pattern, mode, result.sets_).Parse();
    RegularExpressionCompiler(result).Compile(*root);
  } catch (const Malformed& malformed) {
    return Failure<const char*>(malformed.why);
  }
  result.Prepare();
  return result;
}

void RegularExpression::Threads::Clear() {
  consumers.clear();
  if (++generation != 0) return;
  std::ranges::fill(marks, 0u);
  generation = 1;
}

void RegularExpression::Prepare() {
  current_.marks.assign(program_.size(), 0);
  following_.marks.assign(program_.size(), 0);
  // Visits the instructions that are reachable from the start without consuming a byte. Treats all assertions (^, \b …)
  // as true, because the text is not known yet.
  current_.Clear();
  std::vector<uint32_t> todo = {start_};
  while (!todo.empty()) {
    const uint32_t index = todo.back();
    todo.pop_back();
    if (!current_.Add(index)) continue;
    const Instruction& instruction = program_[index];
    switch (instruction.operation) {
      case Operation::kByte:
        first_bytes_.set(instruction.operand);
        break;
      case Operation::kSet:
        first_bytes_ |= sets_[instruction.operand];
        break;
      case Operation::kMatch:
        can_be_empty_ = true;
        break;
      case Operation::kSplit:
        todo.push_back(instruction.other);
        [[fallthrough]];
      default:
        todo.push_back(instruction.next);
    }
  }
}

bool RegularExpression::HoldsAt(Operation assertion, Bytes text, size_t at) const {
  const bool after_word = at > 0 && IsWordByte(text[at - 1]);
  const bool before_word = at < text.size() && IsWordByte(text[at]);
  switch (assertion) {
    case Operation::kTextBegin:
      return at == 0;
    case Operation::kTextEnd:
      return at == text.size();
    case Operation::kWordBegin:
      return !after_word && before_word;
    case Operation::kWordEnd:
      return after_word && !before_word;
    case Operation::kWordEdge:
      return after_word != before_word;
    default:
      return after_word == before_word;
  }
}

bool RegularExpression::Follow(Threads& threads, uint32_t first, Bytes text, size_t at) {
  to_follow_.push_back(first);
  while (!to_follow_.empty()) {
    const uint32_t index = to_follow_.back();
    to_follow_.pop_back();
    if (!threads.Add(index)) continue;
    ++steps_;
    const Instruction& instruction = program_[index];
    switch (instruction.operation) {
      case Operation::kByte:
      case Operation::kSet:
        threads.consumers.push_back(index);
        break;
      case Operation::kMatch:
        to_follow_.clear();
        return true;
      case Operation::kSplit:
        to_follow_.push_back(instruction.other);
        to_follow_.push_back(instruction.next);
        break;
      default:
        if (HoldsAt(instruction.operation, text, at)) to_follow_.push_back(instruction.next);
    }
  }
  return false;
}

bool RegularExpression::Consumes(const Instruction& instruction, char c) const {
  const auto byte = static_cast<uint8_t>(c);
  return instruction.operation == Operation::kByte ? instruction.operand == byte : sets_[instruction.operand][byte];
}

bool RegularExpression::Matches(Bytes text, uint64_t& steps_left) {
  steps_ = 0;
  const bool matches = Search(text, steps_left);
  steps_left -= std::min(steps_, steps_left);
  return matches;
}

bool RegularExpression::Search(Bytes text, uint64_t max_steps) {
  current_.Clear();
  for (size_t at = 0; steps_ < max_steps; ++at) {
    if (current_.consumers.empty() && !can_be_empty_) {
      while (at < text.size() && !first_bytes_[ByteAt(text, at)]) ++at;
      if (at == text.size()) return false;
    }
    if (Follow(current_, start_, text, at)) return true;
    if (at == text.size()) return false;
    following_.Clear();
    for (const uint32_t index : current_.consumers) {
      const Instruction& instruction = program_[index];
      if (Consumes(instruction, text[at]) && Follow(following_, instruction.next, text, at + 1)) return true;
    }
    std::swap(current_, following_);
  }
  return false;
}

}  // namespace respite
