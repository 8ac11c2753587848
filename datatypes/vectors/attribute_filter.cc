#include "datatypes/vectors/attribute_filter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
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
  static Value Text(Bytes text) { return {Kind::kText, 0, text, nullptr}; }

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
    filter_.CollectFields();
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
      return Value::Text(TextOf(step));
    case Op::kList:
      return {Value::Kind::kList, 0, {}, &step};
    default:
      return {};
  }
}

void AttributeFilter::CollectFields() {
  for (const Step& step : program_) {
    if (step.op == Op::kField) fields_.push_back(step);
  }
  const auto name = [this](const Step& step) { return TextOf(step); };
  std::ranges::sort(fields_, {}, name);
  const auto is_same = [&](const Step& one, const Step& other) { return name(one) == name(other); };
  fields_.erase(std::unique(fields_.begin(), fields_.end(), is_same), fields_.end());
  for (Step& step : program_) {
    if (step.op != Op::kField) continue;
    step.begin = static_cast<uint32_t>(std::ranges::lower_bound(fields_, TextOf(step), {}, name) - fields_.begin());
  }
}

bool AttributeFilter::ReadFields(Bytes attributes, std::vector<Value>& values, std::forward_list<std::string>& buffers,
                                 uint64_t& work) const {
  if (fields_.empty()) return true;
  work += fields_.size() * sizeof(Value);
  values.resize(fields_.size());
  std::vector<bool> is_read(fields_.size());
  JsonFieldReader reader(attributes);
  bool is_good = true;
  for (size_t missing = fields_.size(); missing > 0 && is_good;) {
    const auto name = reader.Next();
    is_good = name.has_value();
    if (!is_good) break;
    const auto found = std::ranges::lower_bound(fields_, *name, {}, [this](const Step& step) { return TextOf(step); });
    if (found == fields_.end() || TextOf(*found) != *name) continue;
    const auto field = static_cast<size_t>(found - fields_.begin());
    if (is_read[field]) continue;
    const auto value = reader.TakeValue();
    is_good = value.has_value();
    if (!is_good) break;
    if (value->kind == AttributeValue::Kind::kNumber) values[field] = Value::Number(value->number);
    if (value->kind == AttributeValue::Kind::kText)
      values[field] = Value::Text(TextOfAttribute(*value, buffers.emplace_front()));
    if (value->kind == AttributeValue::Kind::kArray) values[field] = {Value::Kind::kArray, 0, value->text, nullptr};
    is_read[field] = true;
    --missing;
  }
  work += attributes.size() - reader.Left();
  return is_good;
}

// Computes operators, and counts the bytes that it reads.
class AttributeFilter::Evaluation {
 public:
  explicit Evaluation(const AttributeFilter& filter) : filter_(filter) {}

  uint64_t work() const { return work_; }

  Value ResultOf(Op op, const Value& left, const Value& right) {
    switch (op) {
      case Op::kOr:
        return Truth(left.IsTrue() || right.IsTrue());
      case Op::kAnd:
        return Truth(left.IsTrue() && right.IsTrue());
      case Op::kEqual:
        return Truth(AreEqual(left, right));
      case Op::kNotEqual:
        return Truth(!AreEqual(left, right));
      case Op::kIn:
        return Truth(Contains(right, left));
      default:
        return ResultOf(op, NumberOf(left), NumberOf(right));
    }
  }

 private:
  static Value Truth(bool truth) { return Value::Number(truth ? 1 : 0); }

  static Value ResultOf(Op op, double left, double right) {
    switch (op) {
      case Op::kLess:
        return Truth(left < right);
      case Op::kGreater:
        return Truth(left > right);
      case Op::kLessEqual:
        return Truth(left <= right);
      case Op::kGreaterEqual:
        return Truth(left >= right);
      case Op::kAdd:
        return Value::Number(left + right);
      case Op::kSubtract:
        return Value::Number(left - right);
      case Op::kMultiply:
        return Value::Number(left * right);
      case Op::kDivide:
        return Value::Number(left / right);
      case Op::kModulo:
        return Value::Number(std::fmod(left, right));
      case Op::kPower:
        return Value::Number(std::pow(left, right));
      default:
        return {};
    }
  }

  double NumberOf(const Value& value) {  // a text that is no number counts as 0
    if (value.kind == Value::Kind::kNumber) return value.number;
    if (value.kind != Value::Kind::kText || value.text.empty()) return 0;
    work_ += value.text.size();
    const std::string digits(value.text);
    char* end = nullptr;
    const double number = std::strtod(digits.c_str(), &end);
    return end == digits.c_str() + digits.size() ? number : 0;
  }

  bool AreEqual(const Value& one, const Value& other) {
    std::optional<double> number;
    return AreEqual(one, other, number);
  }
  // `number` keeps NumberOf(other), which is computed only if it is needed.
  bool AreEqual(const Value& one, const Value& other, std::optional<double>& number) {
    if (one.kind == Value::Kind::kText && other.kind == Value::Kind::kText) {
      if (one.text.size() != other.text.size()) return false;
      work_ += one.text.size();
      return one.text == other.text;
    }
    if (one.kind == Value::Kind::kNull || other.kind == Value::Kind::kNull) return one.kind == other.kind;
    if (!number) number = NumberOf(other);
    return NumberOf(one) == *number;
  }

  bool Contains(const Value& container, const Value& value) {
    if (container.kind == Value::Kind::kText && value.kind == Value::Kind::kText) {
      work_ += container.text.size() + value.text.size();
      // Unlike the search of std::string_view, memmem takes linear time.
      return value.text.empty() ||
             memmem(container.text.data(), container.text.size(), value.text.data(), value.text.size()) != nullptr;
    }
    std::optional<double> number;  // of `value`
    if (container.kind == Value::Kind::kList) {
      work_ += container.list->size * sizeof(Step);
      const auto first = filter_.list_values_.begin() + container.list->begin;
      return std::any_of(first, first + container.list->size,
                         [&](const Step& step) { return AreEqual(filter_.ConstantOf(step), value, number); });
    }
    if (container.kind != Value::Kind::kArray) return false;
    std::string buffer;
    Bytes rest = container.text;
    work_ += rest.size();
    while (const auto element = NextJsonElement(rest)) {
      Value each;
      if (element->kind == AttributeValue::Kind::kNumber) each = Value::Number(element->number);
      if (element->kind == AttributeValue::Kind::kText) each = Value::Text(TextOfAttribute(*element, buffer));
      if (element->kind == AttributeValue::Kind::kArray) each.kind = Value::Kind::kArray;
      if (AreEqual(each, value, number)) return true;
    }
    return false;
  }

  const AttributeFilter& filter_;
  uint64_t work_ = 0;  // bytes that were read
};

std::optional<bool> AttributeFilter::Matches(Bytes attributes, uint64_t& work) const {
  constexpr uint64_t kBytesPerStep = 8;  // a step of the program costs as much as reading this many bytes
  std::vector<Value> fields, stack;
  std::forward_list<std::string> buffers;
  if (!ReadFields(attributes, fields, buffers, work)) return false;
  stack.reserve(depth_);
  Evaluation evaluation(*this);
  for (const Step& step : program_) {
    switch (step.op) {
      case Op::kNumber:
      case Op::kText:
      case Op::kNull:
      case Op::kList:
        stack.push_back(ConstantOf(step));
        break;
      case Op::kField:
        stack.push_back(fields[step.begin]);
        break;
      case Op::kNot:
        stack.back() = Value::Number(stack.back().IsTrue() ? 0 : 1);
        break;
      default: {
        const Value right = stack.back();
        stack.pop_back();
        stack.back() = evaluation.ResultOf(step.op, stack.back(), right);
      }
    }
    if (evaluation.work() > kMaxWork) return std::nullopt;
  }
  work += evaluation.work() + program_.size() * kBytesPerStep;
  return stack.back().IsTrue();
}

}  // namespace respite
