#include "datatypes/json/json_path_error.h"

#include <utility>

#include "base/str_cat.h"
#include "datatypes/json/json_path.h"

namespace respite {

namespace {

// The tokens with which the path could continue at the place of the error, in the words of Redis' error messages.
constexpr char kNamePart[] = "<string>, '*'";
constexpr char kAnyBrackets[] = "'<string>[,<string>,...]', '<number>', ['start:end:steps'], '*'";
constexpr char kNoStar[] = "'<string>[,<string>,...]', '<number>', ['start:end:steps']";
constexpr char kNumberOrSlice[] = "'<number>', ['start:end:steps']";
constexpr char kSlicePart[] = "['start:end:steps']";
constexpr char kNumberPart[] = "'<number>'";
constexpr char kStridePart[] = "pos_number";
constexpr char kTermPart[] = "single_filter";
constexpr char kOperandPart[] = "decimal, from_current, from_root, boolean_true, boolean_false, null";
constexpr char kAndOr[] = "and, or";
constexpr char kOperators[] = "ge, gt, le, lt, eq, ne, re, and, or";
constexpr char kPathEnd[] = "EOI, '..'";

// Reads a path until the first error. Each Read function returns false if the path has an error, or if what it reads is
// not next. The error at the furthest place counts.
class JsonPathChecker {
 public:
  explicit JsonPathChecker(Bytes text) : text_(text) {}

  std::string Describe() {
    ++at_;  // $
    if (ReadSteps()) {
      if (at_ == text_.size()) return {};
      Fail(kPathEnd);
    }
    return StrCat("Error occurred at position ", furthest_, ", Error at position ", furthest_,
                  ": expected one of the following: ", expected_);
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Take(Bytes token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void SkipBlanks() {
    while (Peek() == ' ') ++at_;
  }
  bool TakeAfterBlanks(Bytes token) {
    SkipBlanks();
    return Take(token);
  }
  bool FailAt(size_t place, const std::string& expected) {
    if (expected_.empty() || place > furthest_) {
      furthest_ = place;
      expected_ = expected;
    }
    return false;
  }
  bool Fail(const std::string& expected) { return FailAt(at_, expected); }

  // Reads all steps that follow, and the blanks after each. Returns false if a step is malformed. Stops before an
  // unfinished slice, which counts as the end of the path.
  bool ReadSteps() {
    for (SkipBlanks();; SkipBlanks()) {
      const size_t start = at_;
      if (Take("..") || Take(".")) {
        SkipBlanks();
        if (!ReadPart()) return false;
      } else if (Take("[")) {
        if (ReadBrackets()) continue;
        at_ = start;
        return expected_.empty();  // an unfinished slice counts as the end of the path
      } else {
        return true;
      }
    }
  }
  bool ReadPart() {
    const size_t start = at_;
    if (Take("[")) return ReadBrackets() || (expected_.empty() && FailAt(start, kNamePart));
    return ReadName() || Fail(kNamePart);
  }
  bool ReadName() {
    if (Take("*")) return true;
    const size_t start = at_;
    while (IsJsonNameCharacter(Peek())) ++at_;
    return at_ != start;
  }

  bool ReadBrackets() {
    SkipBlanks();
    const size_t start = at_;
    if (Take("*")) return TakeAfterBlanks("]") || FailAt(start, kNoStar);
    if (Take("?")) return ReadFilter();
    if (Peek() == '"' || Peek() == '\'') {
      if (!ReadText()) return FailAt(start, kAnyBrackets);
      while (TakeAfterBlanks(",")) {
        SkipBlanks();
        if (!ReadText()) return FailAt(start, kNumberOrSlice);
      }
      return Take("]") || FailAt(start, kNumberOrSlice);
    }
    const bool has_start = ReadInteger();
    if (!has_start && Peek() != ':') return FailAt(start, kAnyBrackets);
    if (TakeAfterBlanks(":")) return ReadSlice();
    while (TakeAfterBlanks(",")) {
      SkipBlanks();
      if (!ReadInteger()) return Fail(kNumberPart);
    }
    return Take("]") || FailAt(start, kSlicePart);
  }

  bool ReadSlice() {  // reads after the first colon
    SkipBlanks();
    const size_t end = at_;
    const bool has_end = ReadInteger();
    if (TakeAfterBlanks(":")) {
      SkipBlanks();
      if (Peek() != ']' && !ReadStride()) return Fail(kStridePart);
    }
    if (TakeAfterBlanks("]")) return true;
    return has_end ? false : FailAt(end, kNumberPart);
  }

  bool ReadStride() {
    if (Peek() < '1' || Peek() > '9') return false;
    while (IsDigit(Peek())) ++at_;
    return true;
  }
  bool ReadInteger() {
    const size_t start = at_;
    Take("-");
    if (Take("0") || ReadStride()) return true;
    at_ = start;
    return false;
  }

  bool ReadText() {
    const size_t start = at_;
    const char quote = Peek();
    if (quote != '"' && quote != '\'') return false;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return true;
      }
      if (text_[at_] != '\\') continue;
      ++at_;
      if (Peek() != quote && Peek() != '\\') break;
    }
    at_ = start;
    return false;
  }

  bool ReadFilter() {  // reads after the question mark
    const size_t outer_parentheses = std::exchange(parentheses_, 0);
    if (!ReadCondition()) return false;
    parentheses_ = outer_parentheses;
    return TakeAfterBlanks("]") || Fail(kAndOr);
  }
  bool ReadCondition() {
    if (++nesting_ > JsonPath::kMaxNesting) return Fail(kTermPart);
    do {
      SkipBlanks();
      if (!ReadTerm()) return false;
      SkipBlanks();
    } while (Take("&&") || Take("||"));
    --nesting_;
    return true;
  }
  bool ReadTerm() {
    if (Take("(")) {
      ++parentheses_;
      if (!ReadCondition()) return false;
      --parentheses_;
      return TakeAfterBlanks(")") || Fail(kAndOr);
    }
    std::string follow;  // what could follow the operand
    if (!ReadOperand(follow)) return Fail(kTermPart);
    if (!TakeOperator()) {
      return IsConditionEnd() || Fail(StrCat(kOperators, follow));
    }
    SkipBlanks();
    follow.clear();
    if (!ReadOperand(follow)) return Fail(kOperandPart);
    return IsConditionEnd() || Fail(StrCat(kAndOr, follow));
  }
  bool TakeOperator() {
    for (const Bytes each : {">=", ">", "<=", "<", "==", "!=", "=~"}) {
      if (Take(each)) return true;
    }
    return false;
  }
  bool IsConditionEnd() {
    SkipBlanks();
    const Bytes next = text_.substr(at_, 2);
    return next == "&&" || next == "||" || Peek() == (parentheses_ > 0 ? ')' : ']');
  }

  // Reads a path or a value. After a path, sets `follow` to what else may come next, such as ", '..'": the error
  // message of ReadTerm has this text after its list of operators. After a value, leaves `follow` unchanged.
  bool ReadOperand(std::string& follow) {
    if (Take("@") || Take("$")) {
      SkipBlanks();
      const size_t start = at_;
      if (Peek() != '.' && Peek() != '[') ReadName();
      const bool is_good = ReadSteps();
      follow = at_ == start ? ", root" : ", '..'";
      return is_good;
    }
    const bool is_good = ReadText() || ReadDecimal() || Take("true") || Take("false") || Take("null");
    if (is_good) SkipBlanks();
    return is_good;
  }
  bool ReadDecimal() {
    if (!ReadInteger()) return false;
    if (Peek() == '.' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1])) {
      ++at_;
      while (IsDigit(Peek())) ++at_;
    }
    return true;
  }

  const Bytes text_;
  size_t at_ = 0;           // offset of the next byte to read
  size_t nesting_ = 0;      // conditions that are open
  size_t parentheses_ = 0;  // those that are open in the current filter
  size_t furthest_ = 0;     // where the error is
  std::string expected_;    // what could be there; empty: no error was found
};

}  // namespace

std::string DescribeJsonPathError(Bytes path) { return JsonPathChecker(path).Describe(); }

}  // namespace respite
