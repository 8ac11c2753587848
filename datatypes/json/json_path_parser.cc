#include "datatypes/json/json_path_parser.h"

#include <utility>

#include "base/str_cat.h"
#include "datatypes/json/json_parser.h"
#include "datatypes/json/json_path_error.h"
#include "datatypes/json/json_text.h"

namespace respite {

namespace {

bool IsWordCharacter(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

void AppendUtf8(std::string& text, uint32_t point) {
  const auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xc0 | point >> 6);
  } else {
    if (point < 0x10000) {
      add(0xe0 | point >> 12);
    } else {
      add(0xf0 | point >> 18);
      add(0x80 | (point >> 12 & 63));
    }
    add(0x80 | (point >> 6 & 63));
  }
  add(0x80 | (point & 63));
}

struct OperatorToken {
  Bytes token;
  JsonOperator op;
};
constexpr OperatorToken kComparisons[] = {{"==", JsonOperator::kEqual},   {"!=", JsonOperator::kNotEqual},
                                          {"=~", JsonOperator::kMatches}, {"<=", JsonOperator::kLessOrEqual},
                                          {"<", JsonOperator::kLess},     {">=", JsonOperator::kGreaterOrEqual},
                                          {">", JsonOperator::kGreater}};
constexpr OperatorToken kWords[] = {
    {"in", JsonOperator::kIn},       {"nin", JsonOperator::kNotIn},     {"subsetof", JsonOperator::kSubsetOf},
    {"anyof", JsonOperator::kAnyOf}, {"noneof", JsonOperator::kNoneOf}, {"sizeof", JsonOperator::kSizeIs},
    {"size", JsonOperator::kSizeIs}, {"empty", JsonOperator::kIsEmpty}};

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Whole paths

namespace {

// Returns a legacy path in the form that begins with $.
std::string WithRoot(Bytes text) {
  if (text == ".") return "$";
  return StrCat(text.starts_with('.') ? "$" : "$.", text);
}

// Returns true if a text that IsLegacyText takes for a legacy path may be a computation: "$ + 1", "$~", "-$.a".
bool MayCompute(Bytes text) {
  return text.starts_with("$ ") || text.starts_with("$~") ||
         ((text.starts_with('-') || text.starts_with('+')) && text.find('$') != Bytes::npos);
}

}  // namespace

Result<JsonPath, std::string> JsonPath::Parse(Bytes text, JsonPathGrammar grammar) {
  if (text.size() > kMaxTextBytes) return Failure(std::string("ERR the path is too long"));
  // Refuses invalid UTF-8: JSON.SET may add a member with a name from the path, and a saved document whose names are
  // not UTF-8 could not be loaded.
  if (ValidUtf8Bytes(text) != text.size()) return Failure(std::string("Couldn't parse as UTF-8 string"));
  const auto finish = [&](JsonPathParser& parser, bool is_legacy) {
    JsonPath path = parser.TakePath();
    path.text_ = std::string(text);
    path.is_legacy_ = is_legacy;
    return path;
  };
  const bool is_legacy = IsLegacyText(text);
  const std::string absolute = is_legacy ? WithRoot(text) : std::string(text);
  JsonPathParser computation(text, grammar);
  if (grammar == JsonPathGrammar::kPlain) {
    if (std::string error = DescribeJsonPathError(absolute); !error.empty()) return Failure(std::move(error));
  } else if ((!is_legacy || MayCompute(text)) && computation.ParseExpression() &&
             (!is_legacy || computation.IsExpression())) {
    return finish(computation, false);
  }
  JsonPathParser parser(absolute, grammar);
  if (parser.ParsePath()) return finish(parser, is_legacy);
  if (grammar == JsonPathGrammar::kComputing && is_legacy && text.find('$') != Bytes::npos) {
    JsonPathParser other(text, grammar);  // a computation such as 1 + $.a
    if (other.ParseExpression()) return finish(other, false);
  }
  if (std::string error = DescribeJsonPathError(absolute); !error.empty()) return Failure(std::move(error));
  return Failure(StrCat("ERR the path is too complex at position ", parser.ErrorOffset()));
}

bool JsonPathParser::ParsePath() {
  if (!Take("$") || !ReadSteps(steps_)) return false;
  SkipBlanks();
  return at_ == text_.size();
}

bool JsonPathParser::ParseExpression() {
  Node node = ReadOr();
  if (node == nullptr) return false;
  SkipBlanks();
  if (at_ != text_.size()) return false;
  if (node->op == JsonOperator::kPath && node->from_root) {
    steps_ = std::move(node->steps);
  } else {
    computed_ = std::move(node);
  }
  return true;
}

JsonPath JsonPathParser::TakePath() {
  JsonPath path;
  path.steps_ = std::move(steps_);
  path.computed_ = std::move(computed_);
  return path;
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps

bool JsonPathParser::ReadSteps(JsonSteps& steps) {
  for (;;) {
    const size_t start = at_;
    SkipBlanks();
    if ((Peek() != '.' && Peek() != '[') || IsMethodCall()) {
      at_ = start;
      return true;
    }
    JsonStep step;
    step.is_recursive = Take("..");
    const bool is_good = step.is_recursive || Take(".") ? ReadDotStep(step) : Take("[") && ReadBracket(step);
    if (!is_good) return false;
    steps.push_back(std::move(step));
  }
}

bool JsonPathParser::ReadFirstStep(JsonSteps& steps) {
  const size_t start = at_;
  bool has_name = IsWordCharacter(Peek());
  if (grammar_ == JsonPathGrammar::kPlain) {
    SkipBlanks();
    has_name = IsJsonNameCharacter(Peek()) || Peek() == '*';
  }
  at_ = has_name ? at_ : start;
  JsonStep step;
  if (has_name && ReadDotStep(step)) steps.push_back(std::move(step));
  return ReadSteps(steps);
}

bool JsonPathParser::ReadDotStep(JsonStep& step) {
  SkipBlanks();
  if (Take("[")) return ReadBracket(step);
  if (Take("*")) {
    step.kind = JsonStep::Kind::kAll;
    return true;
  }
  const Bytes name = ReadName();
  if (name.empty()) return false;
  step.kind = JsonStep::Kind::kNames;
  step.names.emplace_back(name);
  return true;
}

bool JsonPathParser::IsMethodCall() {
  if (Peek() != '.' || Peek(1) == '.') return false;
  const size_t start = at_;
  ++at_;
  const Bytes name = ReadName();
  const bool is_call = !name.empty() && Peek() == '(' && FindPathFunction(name).has_value();
  at_ = start;
  return is_call;
}

Bytes JsonPathParser::ReadName() {
  const size_t start = at_;
  while (at_ < text_.size() && (IsJsonNameCharacter(text_[at_]) || ByteAt(text_, at_) >= 0x80)) ++at_;
  if (grammar_ == JsonPathGrammar::kComputing) {
    while (at_ > start && text_[at_ - 1] == '~') --at_;  // operators
  }
  return text_.substr(start, at_ - start);
}

bool JsonPathParser::ReadBracket(JsonStep& step) {
  if (nesting_ >= JsonPath::kMaxNesting) return false;
  SkipBlanks();
  if (Take("*")) {
    step.kind = JsonStep::Kind::kAll;
  } else if (Take("?")) {
    ++nesting_;
    step.kind = JsonStep::Kind::kFilter;
    step.filter = ReadOr();
    --nesting_;
    if (step.filter == nullptr) return false;
  } else if (Peek() == '"' || Peek() == '\'') {
    if (!ReadNames(step)) return false;
  } else if (!ReadIndexesOrSlice(step)) {
    return false;
  }
  SkipBlanks();
  return Take("]");
}

bool JsonPathParser::ReadNames(JsonStep& step) {
  step.kind = JsonStep::Kind::kNames;
  do {
    SkipBlanks();
    std::string name;
    if (!ReadString(name)) return false;
    step.names.push_back(std::move(name));
    SkipBlanks();
  } while (Take(","));
  return true;
}

bool JsonPathParser::ReadIndexesOrSlice(JsonStep& step) {
  if (Take(":")) return ReadSliceAfter(step, std::nullopt);
  step.kind = JsonStep::Kind::kIndexes;
  do {
    SkipBlanks();
    int64_t index = 0;
    if (!ReadIndex(index)) return false;
    SkipBlanks();
    if (step.indexes.empty() && Take(":")) return ReadSliceAfter(step, index);
    step.indexes.push_back(index);
  } while (Take(","));
  return true;
}

bool JsonPathParser::ReadSliceAfter(JsonStep& step, std::optional<int64_t> start) {
  step.kind = JsonStep::Kind::kSlice;
  step.start = start;
  SkipBlanks();
  int64_t number = 0;
  if (Peek() != ':' && Peek() != ']') {
    if (!ReadIndex(number)) return false;
    step.end = number;
    SkipBlanks();
  }
  if (!Take(":")) return true;
  SkipBlanks();
  if (Peek() == ']') return true;
  if (!ReadIndex(number)) return false;
  if (number <= 0) return false;
  step.stride = number;
  return true;
}

bool JsonPathParser::ReadIndex(int64_t& index) {
  const size_t start = at_;
  Take("-");
  while (IsDigit(Peek())) ++at_;
  const Bytes digits = text_.substr(start, at_ - start);
  const auto number = ParseInteger(digits == "-0" ? digits.substr(1) : digits);
  if (number) {
    index = *number;
    return true;
  }
  at_ = start;
  return false;
}

bool JsonPathParser::ReadString(std::string& text) {
  const char quote = Peek();
  if (quote != '"' && quote != '\'') return false;
  ++at_;
  for (; at_ < text_.size();) {
    const char c = text_[at_++];
    if (c == quote) return true;
    if (c != '\\') {
      text += c;
    } else if (!ReadEscape(text)) {
      return false;
    }
  }
  return false;
}

bool JsonPathParser::ReadEscape(std::string& text) {
  if (at_ == text_.size()) return false;
  const char c = text_[at_++];
  switch (c) {
    case 'b':
      text += '\b';
      return true;
    case 'f':
      text += '\f';
      return true;
    case 'n':
      text += '\n';
      return true;
    case 'r':
      text += '\r';
      return true;
    case 't':
      text += '\t';
      return true;
    case 'u':
      return ReadCodePoint(text);
    case '"':
    case '\'':
    case '\\':
    case '/':
      text += c;
      return true;
    default:
      text += '\\';
      text += c;
      return true;
  }
}

bool JsonPathParser::ReadCodePoint(std::string& text) {
  const auto unit = [&](uint32_t& value) {
    value = 0;
    for (int i = 0; i < 4; ++i) {
      const size_t digit = Bytes(kHexDigits).find(LowerChar(Peek()));
      if (at_ >= text_.size() || digit == Bytes::npos) return false;
      value = value << 4 | static_cast<uint32_t>(digit);
      ++at_;
    }
    return true;
  };
  uint32_t point = 0;
  if (!unit(point)) return false;
  if (point >= 0xd800 && point < 0xdc00) {
    uint32_t low = 0;
    if (!Take("\\u") || !unit(low) || low < 0xdc00 || low > 0xdfff) return false;
    point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
  } else if (point >= 0xdc00 && point <= 0xdfff) {
    return false;
  }
  AppendUtf8(text, point);
  return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Expressions

JsonPathParser::Node JsonPathParser::MakeBinary(JsonOperator op, Node left, Node right) {
  if (left == nullptr || right == nullptr) return nullptr;
  if (++operators_ > JsonPath::kMaxOperators) return nullptr;
  auto node = std::make_unique<JsonExpression>();
  node->op = op;
  node->operands.push_back(std::move(left));
  node->operands.push_back(std::move(right));
  return node;
}

bool JsonPathParser::TakeWord(Bytes word) {
  const char after = at_ + word.size() < text_.size() ? text_[at_ + word.size()] : ' ';
  return !IsWordCharacter(after) && Take(word);
}

// A chain of equal operators becomes one expression with many operands, so that long chains are not nested deeply.
JsonPathParser::Node JsonPathParser::ReadOr() {
  Node left = ReadAnd();
  for (SkipBlanks(); left != nullptr && Take("||"); SkipBlanks()) {
    Node right = ReadAnd();
    if (right == nullptr) return nullptr;
    if (left->op == JsonOperator::kOr) {
      left->operands.push_back(std::move(right));
    } else {
      left = MakeBinary(JsonOperator::kOr, std::move(left), std::move(right));
    }
  }
  return left;
}

JsonPathParser::Node JsonPathParser::ReadAnd() {
  Node left = ReadNot();
  for (SkipBlanks(); left != nullptr && Take("&&"); SkipBlanks()) {
    Node right = ReadNot();
    if (right == nullptr) return nullptr;
    if (left->op == JsonOperator::kAnd) {
      left->operands.push_back(std::move(right));
    } else {
      left = MakeBinary(JsonOperator::kAnd, std::move(left), std::move(right));
    }
  }
  return left;
}

JsonPathParser::Node JsonPathParser::ReadNot() {
  SkipBlanks();
  bool is_negated = false, has_not = false;
  for (; Peek() == '!' && Peek(1) != '='; SkipBlanks()) {
    ++at_;
    is_negated = !is_negated;
    has_not = true;
  }
  Node inner = ReadComparison();
  if (!has_not || inner == nullptr) return inner;
  auto node = std::make_unique<JsonExpression>();
  node->op = JsonOperator::kNot;
  node->operands.push_back(std::move(inner));
  if (is_negated) return node;
  auto twice = std::make_unique<JsonExpression>();
  twice->op = JsonOperator::kNot;
  twice->operands.push_back(std::move(node));
  return twice;
}

JsonPathParser::Node JsonPathParser::ReadComparison() {
  Node left = ReadSum();
  if (left == nullptr) return nullptr;
  SkipBlanks();
  for (const OperatorToken& each : kComparisons) {
    if (Take(each.token)) return MakeBinary(each.op, std::move(left), ReadSum());
  }
  for (const OperatorToken& each : kWords) {
    if (TakeWord(each.token)) return MakeBinary(each.op, std::move(left), ReadSum());
  }
  return left;
}

JsonPathParser::Node JsonPathParser::ReadSum() {
  Node left = ReadProduct();
  while (left != nullptr) {
    SkipBlanks();
    const char sign = Peek();
    if (sign != '+' && sign != '-') return left;
    ++at_;
    left = MakeBinary(sign == '+' ? JsonOperator::kAdd : JsonOperator::kSubtract, std::move(left), ReadProduct());
  }
  return left;
}

JsonPathParser::Node JsonPathParser::ReadProduct() {
  Node left = ReadSigned();
  while (left != nullptr) {
    SkipBlanks();
    const char sign = Peek();
    if (sign != '*' && sign != '/' && sign != '%') return left;
    ++at_;
    const JsonOperator op = sign == '*'   ? JsonOperator::kMultiply
                            : sign == '/' ? JsonOperator::kDivide
                                          : JsonOperator::kRemainder;
    left = MakeBinary(op, std::move(left), ReadSigned());
  }
  return left;
}

JsonPathParser::Node JsonPathParser::ReadSigned() {
  SkipBlanks();
  const char sign = Peek();
  if ((sign != '-' && sign != '+') || IsDigit(Peek(1))) return ReadMethodCalls();
  if (nesting_ >= JsonPath::kMaxNesting) return nullptr;
  ++at_;
  ++nesting_;
  Node inner = ReadSigned();
  --nesting_;
  if (inner == nullptr) return nullptr;
  auto node = std::make_unique<JsonExpression>();
  node->op = sign == '-' ? JsonOperator::kNegate : JsonOperator::kPlus;
  node->operands.push_back(std::move(inner));
  return node;
}

JsonPathParser::Node JsonPathParser::ReadMethodCalls() {
  Node node = ReadOperand();
  while (node != nullptr && IsMethodCall()) {
    if (++operators_ > JsonPath::kMaxOperators) return nullptr;
    Take(".");
    const auto function = FindPathFunction(ReadName());
    Take("(");
    node = ReadCall(*function, std::move(node));
  }
  if (node != nullptr && node->op == JsonOperator::kPath && Take("~")) {
    auto keys = std::make_unique<JsonExpression>();
    keys->op = JsonOperator::kKeys;
    keys->operands.push_back(std::move(node));
    return keys;
  }
  return node;
}

JsonPathParser::Node JsonPathParser::ReadCall(JsonFunction function, Node receiver) {
  if (nesting_ >= JsonPath::kMaxNesting) return nullptr;
  auto node = std::make_unique<JsonExpression>();
  node->op = JsonOperator::kFunction;
  node->function = function;
  if (receiver != nullptr) node->operands.push_back(std::move(receiver));
  SkipBlanks();
  if (Take(")")) return node;
  ++nesting_;
  do {
    Node argument = ReadOr();
    if (argument == nullptr) return nullptr;
    node->operands.push_back(std::move(argument));
    SkipBlanks();
  } while (Take(","));
  --nesting_;
  return Take(")") ? std::move(node) : nullptr;
}

JsonPathParser::Node JsonPathParser::ReadOperand() {
  SkipBlanks();
  const char c = Peek();
  if (c == '(') {
    if (nesting_ >= JsonPath::kMaxNesting) return nullptr;
    ++at_;
    ++nesting_;
    Node inner = ReadOr();
    --nesting_;
    if (inner == nullptr) return nullptr;
    SkipBlanks();
    return Take(")") ? std::move(inner) : nullptr;
  }
  auto node = std::make_unique<JsonExpression>();
  if (c == '$' || c == '@') {
    ++at_;
    node->op = JsonOperator::kPath;
    node->from_root = c == '$';
    return ReadFirstStep(node->steps) ? std::move(node) : nullptr;
  }
  if (c == '"' || c == '\'') {
    std::string text;
    if (!ReadString(text)) return nullptr;
    node->literal = JsonValue::String(text);
    return node;
  }
  if (c == '[' || c == '{') return ReadJsonLiteral();
  if (IsDigit(c) || ((c == '-' || c == '+') && IsDigit(Peek(1)))) return ReadNumberLiteral();
  if (TakeWord("true")) {
    node->literal = JsonValue::Boolean(true);
    return node;
  }
  if (TakeWord("false")) {
    node->literal = JsonValue::Boolean(false);
    return node;
  }
  if (TakeWord("null")) return node;
  const size_t start = at_;
  while (IsWordCharacter(Peek())) ++at_;
  const auto function = FindPathFunction(text_.substr(start, at_ - start));
  if (function && Take("(")) return ReadCall(*function, nullptr);
  at_ = start;
  return nullptr;
}

JsonPathParser::Node JsonPathParser::ReadNumberLiteral() {
  const size_t start = Peek() == '+' ? at_ + 1 : at_;
  ++at_;
  while (IsDigit(Peek())) ++at_;
  if (Peek() == '.' && IsDigit(Peek(1))) {
    ++at_;
    while (IsDigit(Peek())) ++at_;
  }
  const size_t sign = Peek(1) == '-' || Peek(1) == '+' ? 1 : 0;
  if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(1 + sign))) {
    at_ += 1 + sign;
    while (IsDigit(Peek())) ++at_;
  }
  auto node = std::make_unique<JsonExpression>();
  node->literal = ParseJsonNumber(text_.substr(start, at_ - start));
  return node->literal.IsNumeric() ? std::move(node) : nullptr;
}

JsonPathParser::Node JsonPathParser::ReadJsonLiteral() {
  // Finds the closing bracket of the array or object. Brackets inside texts do not count.
  size_t depth = 0, end = at_;
  for (bool in_text = false; end < text_.size(); ++end) {
    const char c = text_[end];
    if (in_text) {
      if (c == '\\') ++end;
      if (c == '"') in_text = false;
      continue;
    }
    in_text = c == '"';
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && --depth == 0) break;
  }
  auto value = ParseJson(text_.substr(at_, end < text_.size() ? end + 1 - at_ : 0));
  if (!value) return nullptr;
  at_ = end + 1;
  auto node = std::make_unique<JsonExpression>();
  node->literal = std::move(value).value();
  return node;
}

}  // namespace respite
