#include "datatypes/vectors/attribute_filter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <optional>
#include <utility>

#include "datatypes/vectors/json_fields.h"

namespace respite {

struct AttributeFilter::Value {                                        // a value while a filter is evaluated
  enum class Kind : uint8_t { kNull, kNumber, kText, kList, kArray };  // kList: in the filter; kArray: in the JSON

  Kind kind = Kind::kNull;
  double number = 0;
  Bytes text;                  // kText; kArray: the JSON of the elements
  const Step* list = nullptr;  // kList

  static Value Number(double number) { return {Kind::kNumber, number, {}, nullptr}; }

  double AsNumber() const {  // a text that is no number counts as 0
    if (kind == Kind::kNumber) return number;
    if (kind != Kind::kText || text.empty()) return 0;
    const std::string digits(text);
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    return end == digits.c_str() + digits.size() ? value : 0;
  }
  bool IsTrue() const {
    switch (kind) {
      case Kind::kNull:
        return false;
      case Kind::kNumber:
        return number != 0;
      case Kind::kText:
        return !text.empty();
      case Kind::kList:
      case Kind::kArray:
        return true;
    }
    return false;
  }
  bool Equals(const Value& other) const {
    if (kind == Kind::kText && other.kind == Kind::kText) return text == other.text;
    if (kind == Kind::kNull || other.kind == Kind::kNull) return kind == other.kind;
    return AsNumber() == other.AsNumber();
  }
};

// Compiles with a stack of operators (the shunting-yard algorithm).
class AttributeFilter::Compiler {
 public:
  explicit Compiler(Bytes expression) {
    filter_.expression_ = expression.substr(0, expression.find('\0'));
    rest_ = filter_.expression_;
  }

  Result<AttributeFilter, std::string> Run() {
    while (SkipSpaces(), !rest_.empty()) {
      if (!TakeToken()) return Failure(rest_.empty() ? filter_.expression_ : std::string(rest_));
      if (is_unbalanced_) return Failure(filter_.expression_);
    }
    while (!operators_.empty() && !is_unbalanced_) PopOperator();
    if (is_unbalanced_ || depth_ != 1) return Failure(filter_.expression_);
    return std::move(filter_);
  }

 private:
  struct Operator {
    Bytes text;
    Op op;
    int precedence;
  };
  static constexpr int kPowerPrecedence = 6;
  // An operator that begins with another operator comes before it: ** before *.
  static constexpr std::array<Operator, 19> kOperators = {{{"||", Op::kOr, 1},
                                                           {"or", Op::kOr, 1},
                                                           {"&&", Op::kAnd, 2},
                                                           {"and", Op::kAnd, 2},
                                                           {"==", Op::kEqual, 3},
                                                           {"!=", Op::kNotEqual, 3},
                                                           {"<=", Op::kLessEqual, 3},
                                                           {">=", Op::kGreaterEqual, 3},
                                                           {"<", Op::kLess, 3},
                                                           {">", Op::kGreater, 3},
                                                           {"in", Op::kIn, 3},
                                                           {"+", Op::kAdd, 4},
                                                           {"-", Op::kSubtract, 4},
                                                           {"**", Op::kPower, kPowerPrecedence},
                                                           {"*", Op::kMultiply, 5},
                                                           {"/", Op::kDivide, 5},
                                                           {"%", Op::kModulo, 5},
                                                           {"not", Op::kNot, 7},
                                                           {"!", Op::kNot, 7}}};

  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  static bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  static bool IsFieldCharacter(char c) { return IsLetter(c) || IsDigit(c) || c == '_' || c == '-'; }

  void SkipSpaces() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
  }
  uint32_t Offset() const { return static_cast<uint32_t>(filter_.expression_.size() - rest_.size()); }

  // Takes one token from the front of `rest_`. Returns false if there is no valid token. Run then returns `rest_` as
  // the error text: it begins at the invalid token, or after the part of it that was taken already.
  bool TakeToken() {
    const char c = rest_.front();
    if (StartsNumber()) return TakeNumber(filter_.program_) && PushedValue();
    if (c == '"' || c == '\'') return TakeText(filter_.program_) && PushedValue();
    if (c == '.') return TakeField() && PushedValue();
    if (c == '[') return TakeList() && PushedValue();
    if (c == '(') {
      operators_.push_back({Op::kOpen, 0});
      rest_.remove_prefix(1);
      follows_value_ = false;
      return true;
    }
    if (c == ')') return TakeClose();
    if (IsLetter(c)) return TakeWord();
    return TakeSymbol();
  }

  bool StartsNumber() const {
    if (IsDigit(rest_.front())) return true;
    return rest_.front() == '-' && !follows_value_ && rest_.size() > 1 && IsDigit(rest_[1]);
  }

  bool PushedValue() {
    ++depth_;
    filter_.depth_ = std::max(filter_.depth_, depth_);
    follows_value_ = true;
    return true;
  }

  bool TakeNumber(std::vector<Step>& to) {
    size_t size = 1;
    const auto may_follow = [&](char c) {
      const char before = rest_[size - 1];
      if ((c == '-' || c == '+') && size > 1) return before == 'e' || before == 'E';
      return IsDigit(c) || c == '.' || c == 'e' || c == 'E';
    };
    while (size < rest_.size() && may_follow(rest_[size])) ++size;
    const std::string digits(rest_.substr(0, size));
    rest_.remove_prefix(size);
    char* end = nullptr;
    const double number = std::strtod(digits.c_str(), &end);
    if (end != digits.c_str() + digits.size()) return false;
    to.push_back({Op::kNumber, number});
    return true;
  }

  bool TakeText(std::vector<Step>& to) {
    const char quote = rest_.front();
    size_t size = 1;
    while (size < rest_.size() && rest_[size] != quote) size += rest_[size] == '\\' ? 2 : 1;
    if (size >= rest_.size()) {
      rest_ = {};
      return false;
    }
    to.push_back({Op::kText, 0, Offset() + 1, static_cast<uint32_t>(size - 1)});
    rest_.remove_prefix(size + 1);
    return true;
  }

  bool TakeField() {
    size_t size = 1;
    while (size < rest_.size() && IsFieldCharacter(rest_[size])) ++size;
    if (size == 1 && rest_.size() > 1) return false;
    filter_.program_.push_back({Op::kField, 0, Offset() + 1, static_cast<uint32_t>(size - 1)});
    rest_.remove_prefix(size);
    return true;
  }

  bool TakeList() {
    const auto begin = static_cast<uint32_t>(filter_.list_values_.size());
    rest_.remove_prefix(1);
    for (SkipSpaces(); !rest_.empty() && rest_.front() != ']'; SkipSpaces()) {
      const char c = rest_.front();
      const bool is_number = IsDigit(c) || (c == '-' && rest_.size() > 1 && IsDigit(rest_[1]));
      const bool is_text = c == '"' || c == '\'';
      if (!is_number && !is_text) return false;
      if (is_number ? !TakeNumber(filter_.list_values_) : !TakeText(filter_.list_values_)) return false;
      SkipSpaces();
      if (rest_.empty() || rest_.front() == ']') break;
      if (rest_.front() != ',') return false;
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    const auto size = static_cast<uint32_t>(filter_.list_values_.size() - begin);
    filter_.program_.push_back({Op::kList, 0, begin, size});
    return true;
  }

  bool TakeWord() {
    size_t size = 0;
    while (size < rest_.size() && IsLetter(rest_[size])) ++size;
    const Bytes word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    if (word == "null") {
      filter_.program_.push_back({Op::kNull});
      return PushedValue();
    }
    const auto* found =
        std::find_if(kOperators.begin(), kOperators.end(), [&](const Operator& each) { return each.text == word; });
    return found != kOperators.end() && PushOperator(*found);
  }

  bool TakeSymbol() {
    for (const Operator& each : kOperators) {
      if (!rest_.starts_with(each.text)) continue;
      rest_.remove_prefix(each.text.size());
      return PushOperator(each);
    }
    if (constexpr Bytes kSymbols = "=&|"; kSymbols.find(rest_.front()) != Bytes::npos) rest_.remove_prefix(1);
    return false;
  }

  bool TakeClose() {
    rest_.remove_prefix(1);
    while (!operators_.empty() && operators_.back().op != Op::kOpen) PopOperator();
    if (operators_.empty()) {
      is_unbalanced_ = true;
      return true;
    }
    operators_.pop_back();
    follows_value_ = true;
    return true;
  }

  bool PushOperator(const Operator& next) {
    const bool is_right = next.precedence == kPowerPrecedence;  // the first of two powers is computed last
    while (!operators_.empty() && operators_.back().op != Op::kOpen) {
      if (is_right ? operators_.back().precedence <= next.precedence : operators_.back().precedence < next.precedence)
        break;
      PopOperator();
    }
    operators_.push_back({next.op, next.precedence});
    follows_value_ = false;
    return true;
  }

  // Removes the last operator from operators_ and appends it to the program. Instead of appending it, sets
  // is_unbalanced_ if the operator is an open parenthesis or lacks an operand.
  void PopOperator() {
    const Op op = operators_.back().op;
    operators_.pop_back();
    const size_t needed = op == Op::kNot ? 1 : 2;
    if (op == Op::kOpen || depth_ < needed) {
      is_unbalanced_ = true;
      return;
    }
    depth_ -= needed - 1;
    filter_.program_.push_back({op});
  }

  struct Pending {
    Op op;
    int precedence;
  };

  AttributeFilter filter_;
  Bytes rest_;                      // the part of the expression that is not compiled yet
  std::vector<Pending> operators_;  // operators that wait for their right side, and open parentheses
  size_t depth_ = 0;                // number of values on the stack after the program so far
  bool follows_value_ = false;      // the last token was a value, so that a minus is an operator
  bool is_unbalanced_ = false;      // an operator has too few values, or a parenthesis has no partner
};

Result<AttributeFilter, std::string> AttributeFilter::Compile(Bytes expression) { return Compiler(expression).Run(); }

AttributeFilter::Value AttributeFilter::ConstantOf(const Step& step) const {
  switch (step.op) {
    case Op::kNumber:
      return Value::Number(step.number);
    case Op::kText:
      return {Value::Kind::kText, 0, TextOf(step), nullptr};
    case Op::kList:
      return {Value::Kind::kList, 0, {}, &step};
    default:
      return {};
  }
}

bool AttributeFilter::Contains(const Value& container, const Value& value) const {
  if (container.kind == Value::Kind::kText && value.kind == Value::Kind::kText) {
    return container.text.find(value.text) != Bytes::npos;
  }
  if (container.kind == Value::Kind::kList) {
    const auto first = list_values_.begin() + container.list->begin;
    return std::any_of(first, first + container.list->size,
                       [&](const Step& step) { return ConstantOf(step).Equals(value); });
  }
  if (container.kind != Value::Kind::kArray) return false;
  std::string buffer;
  Bytes rest = container.text;
  while (const auto element = NextJsonElement(rest)) {
    Value each;
    if (element->kind == AttributeValue::Kind::kNumber) each = Value::Number(element->number);
    if (element->kind == AttributeValue::Kind::kText)
      each = {Value::Kind::kText, 0, TextOfAttribute(*element, buffer), nullptr};
    if (element->kind == AttributeValue::Kind::kArray) each.kind = Value::Kind::kArray;
    if (each.Equals(value)) return true;
  }
  return false;
}

AttributeFilter::Value AttributeFilter::ResultOf(Op op, const Value& left, const Value& right,
                                                 const AttributeFilter& filter) {
  switch (op) {
    case Op::kOr:
      return Value::Number(left.IsTrue() || right.IsTrue() ? 1 : 0);
    case Op::kAnd:
      return Value::Number(left.IsTrue() && right.IsTrue() ? 1 : 0);
    case Op::kEqual:
      return Value::Number(left.Equals(right) ? 1 : 0);
    case Op::kNotEqual:
      return Value::Number(left.Equals(right) ? 0 : 1);
    case Op::kLess:
      return Value::Number(left.AsNumber() < right.AsNumber() ? 1 : 0);
    case Op::kGreater:
      return Value::Number(left.AsNumber() > right.AsNumber() ? 1 : 0);
    case Op::kLessEqual:
      return Value::Number(left.AsNumber() <= right.AsNumber() ? 1 : 0);
    case Op::kGreaterEqual:
      return Value::Number(left.AsNumber() >= right.AsNumber() ? 1 : 0);
    case Op::kIn:
      return Value::Number(filter.Contains(right, left) ? 1 : 0);
    case Op::kAdd:
      return Value::Number(left.AsNumber() + right.AsNumber());
    case Op::kSubtract:
      return Value::Number(left.AsNumber() - right.AsNumber());
    case Op::kMultiply:
      return Value::Number(left.AsNumber() * right.AsNumber());
    case Op::kDivide:
      return Value::Number(left.AsNumber() / right.AsNumber());
    case Op::kModulo:
      return Value::Number(std::fmod(left.AsNumber(), right.AsNumber()));
    case Op::kPower:
      return Value::Number(std::pow(left.AsNumber(), right.AsNumber()));
    default:
      return {};
  }
}

bool AttributeFilter::Matches(Bytes attributes) const {
  std::vector<Value> stack;
  stack.reserve(depth_);
  std::deque<std::string> buffers;  // texts of fields with escapes
  for (const Step& step : program_) {
    switch (step.op) {
      case Op::kNumber:
      case Op::kText:
      case Op::kNull:
      case Op::kList:
        stack.push_back(ConstantOf(step));
        break;
      case Op::kField: {
        const auto field = FindJsonField(attributes, TextOf(step));
        if (!field) return false;
        Value value;
        if (field->kind == AttributeValue::Kind::kNumber) value = Value::Number(field->number);
        if (field->kind == AttributeValue::Kind::kText)
          value = {Value::Kind::kText, 0, TextOfAttribute(*field, buffers.emplace_back()), nullptr};
        if (field->kind == AttributeValue::Kind::kArray) value = {Value::Kind::kArray, 0, field->text, nullptr};
        stack.push_back(value);
        break;
      }
      case Op::kNot:
        stack.back() = Value::Number(stack.back().IsTrue() ? 0 : 1);
        break;
      default: {
        const Value right = stack.back();
        stack.pop_back();
        stack.back() = ResultOf(step.op, stack.back(), right, *this);
      }
    }
  }
  return stack.back().IsTrue();
}

}  // namespace respite
