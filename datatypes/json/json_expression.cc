#include "datatypes/json/json_expression.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <utility>

#include "datatypes/json/json_text.h"

namespace respite {

namespace {

JsonOperand Truth(bool truth) {
  JsonOperand result;
  result.kind = JsonOperand::Kind::kTruth;
  result.truth = truth;
  return result;
}

JsonOperand ValueOperand(JsonValue value) {
  JsonOperand result;
  result.kind = JsonOperand::Kind::kValue;
  result.value = std::move(value);
  return result;
}

// Compares two numbers exactly if both are of kind kInteger or both of kind kUnsigned; otherwise compares them as
// doubles.
std::partial_ordering CompareNumbers(const JsonValue& one, const JsonValue& other) {
  if (one.Is(JsonKind::kInteger) && other.Is(JsonKind::kInteger)) return one.AsInteger() <=> other.AsInteger();
  if (one.Is(JsonKind::kUnsigned) && other.Is(JsonKind::kUnsigned)) return one.AsUnsigned() <=> other.AsUnsigned();
  return one.ToDouble() <=> other.ToDouble();
}

// Returns how two numbers, strings, booleans or nulls are ordered. Returns unordered for two values of different kinds
// (all numbers are one kind), for arrays and objects, and if the budget is spent.
std::partial_ordering CompareJson(const JsonValue& one, const JsonValue& other, JsonBudget& budget) {
  if (one.IsNumeric() && other.IsNumeric()) return CompareNumbers(one, other);
  if (one.Kind() != other.Kind()) return std::partial_ordering::unordered;
  switch (one.Kind()) {
    case JsonKind::kString:
      if (!budget.SpendBytes(std::min(one.AsString().size(), other.AsString().size()))) break;
      return one.AsString().compare(other.AsString()) <=> 0;
    case JsonKind::kBoolean:
      return static_cast<int>(one.AsBoolean()) <=> static_cast<int>(other.AsBoolean());
    case JsonKind::kNull:
      return std::partial_ordering::equivalent;
    default:
      break;
  }
  return std::partial_ordering::unordered;
}

bool Compares(JsonOperator op, const JsonValue& one, const JsonValue& other, JsonBudget& budget) {
  switch (op) {
    case JsonOperator::kEqual:
      return JsonEquals(one, other, budget);
    case JsonOperator::kLess:
      return std::is_lt(CompareJson(one, other, budget));
    case JsonOperator::kLessOrEqual:
      return std::is_lteq(CompareJson(one, other, budget));
    case JsonOperator::kGreater:
      return std::is_gt(CompareJson(one, other, budget));
    default:
      return std::is_gteq(CompareJson(one, other, budget));
  }
}

bool IsMember(const JsonValue& value, const JsonValue& array, JsonBudget& budget) {
  for (const JsonValue& element : array.Elements()) {
    if (!budget.Spend(1)) return false;
    if (JsonEquals(value, element, budget)) return true;
  }
  return false;
}

bool RelatesSets(JsonOperator op, const JsonValue& one, const JsonValue& other, JsonBudget& budget) {
  if (!one.Is(JsonKind::kArray) || !other.Is(JsonKind::kArray)) return false;
  const auto is_member = [&](const JsonValue& value) { return IsMember(value, other, budget); };
  if (op == JsonOperator::kSubsetOf) return std::ranges::all_of(one.Elements(), is_member);
  if (op == JsonOperator::kAnyOf) return std::ranges::any_of(one.Elements(), is_member);
  return std::ranges::none_of(one.Elements(), is_member);
}

size_t CountCharacters(Bytes text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

std::optional<size_t> SizeOfJson(const JsonValue& value, JsonBudget& budget) {
  if (value.IsContainer()) return value.Size();
  if (!value.Is(JsonKind::kString) || !budget.SpendBytes(value.AsString().size())) return std::nullopt;
  return CountCharacters(value.AsString());
}

bool HasSize(const JsonValue& value, const JsonValue& wanted, JsonBudget& budget) {
  const auto size = SizeOfJson(value, budget);
  return size && wanted.IsNumeric() && static_cast<double>(*size) == std::trunc(wanted.ToDouble());
}

bool IsEmptyAsWanted(const JsonValue& value, const JsonValue& wanted) {
  if (!wanted.Is(JsonKind::kBoolean)) return false;
  if (value.IsContainer()) return (value.Size() == 0) == wanted.AsBoolean();
  return value.Is(JsonKind::kString) && value.AsString().empty() == wanted.AsBoolean();
}

bool RelatesOne(JsonOperator op, const JsonValue& one, const JsonValue& other, JsonBudget& budget) {
  switch (op) {
    case JsonOperator::kMatches:
      return one.Is(JsonKind::kString) && other.Is(JsonKind::kString) &&
             MatchesJsonPattern(one.AsString(), other.AsString(), budget);
    case JsonOperator::kIn:
      return other.Is(JsonKind::kArray) && IsMember(one, other, budget);
    case JsonOperator::kNotIn:
      return !other.Is(JsonKind::kArray) || !IsMember(one, other, budget);
    case JsonOperator::kSubsetOf:
    case JsonOperator::kAnyOf:
    case JsonOperator::kNoneOf:
      return RelatesSets(op, one, other, budget);
    case JsonOperator::kSizeIs:
      return HasSize(one, other, budget);
    case JsonOperator::kIsEmpty:
      return IsEmptyAsWanted(one, other);
    default:
      return Compares(op, one, other, budget);
  }
}

// Returns whether the comparison `left op right` is true. A side may have several values, if a path has selected them.
// Every operator except != is true if it is true for at least one pair of a left and a right value. As in Redis, != is
// true if == is false, and so also if a path selects nothing. If a side has no result (kNothing), every comparison is
// false.
bool Relates(JsonOperator op, const JsonOperand& left, const JsonOperand& right, JsonBudget& budget) {
  if (left.kind == JsonOperand::Kind::kNothing || right.kind == JsonOperand::Kind::kNothing) return false;
  if (op == JsonOperator::kNotEqual) return !Relates(JsonOperator::kEqual, left, right, budget);
  const auto others = right.All();
  for (const JsonValue* one : left.All()) {
    for (const JsonValue* other : others) {
      if (!budget.Spend(1)) return false;
      if (RelatesOne(op, *one, *other, budget)) return true;
    }
  }
  return false;
}

JsonOperand NumberOperand(double number) {
  if (!std::isfinite(number)) return {};
  return ValueOperand(JsonValue::Number(number));
}

// Computes a sum, difference, product or remainder of integers. Returns nullopt if the result needs more than 64 bits.
// Requires: for a remainder, `other` is not 0.
std::optional<int64_t> ComputeIntegers(JsonOperator op, int64_t one, int64_t other) {
  int64_t result = 0;
  switch (op) {
    case JsonOperator::kAdd:
      if (__builtin_add_overflow(one, other, &result)) return std::nullopt;
      return result;
    case JsonOperator::kSubtract:
      if (__builtin_sub_overflow(one, other, &result)) return std::nullopt;
      return result;
    case JsonOperator::kMultiply:
      if (__builtin_mul_overflow(one, other, &result)) return std::nullopt;
      return result;
    default:
      return other == -1 ? 0 : one % other;
  }
}

JsonOperand Arithmetic(JsonOperator op, const JsonOperand& left, const JsonOperand& right) {
  const JsonValue* one = left.Single();
  const JsonValue* other = right.Single();
  if (one == nullptr || other == nullptr || !one->IsNumeric() || !other->IsNumeric()) return {};
  const double x = one->ToDouble(), y = other->ToDouble();
  const bool divides = op == JsonOperator::kDivide || op == JsonOperator::kRemainder;
  if (divides && y == 0) return {};
  const bool are_integers = one->Is(JsonKind::kInteger) && other->Is(JsonKind::kInteger);
  if (are_integers && op != JsonOperator::kDivide) {
    if (const auto result = ComputeIntegers(op, one->AsInteger(), other->AsInteger())) {
      return ValueOperand(JsonValue::Integer(*result));
    }
  }
  switch (op) {
    case JsonOperator::kAdd:
      return NumberOperand(x + y);
    case JsonOperator::kSubtract:
      return NumberOperand(x - y);
    case JsonOperator::kMultiply:
      return NumberOperand(x * y);
    case JsonOperator::kDivide:
      return NumberOperand(x / y);
    default:
      return NumberOperand(std::fmod(x, y));
  }
}

JsonOperand Signed(JsonOperator op, const JsonOperand& operand) {
  const JsonValue* value = operand.Single();
  if (value == nullptr || !value->IsNumeric()) return {};
  if (op == JsonOperator::kPlus) return ValueOperand(value->Clone());
  if (value->Is(JsonKind::kInteger) && value->AsInteger() != std::numeric_limits<int64_t>::min()) {
    return ValueOperand(JsonValue::Integer(-value->AsInteger()));
  }
  return NumberOperand(-value->ToDouble());
}

JsonOperand PathOperand(const JsonExpression& path, const JsonContext& context) {
  const JsonMatch document(&context.root, nullptr);
  JsonOperand result;
  result.kind = JsonOperand::Kind::kNodes;
  SelectJson(path.steps, path.from_root ? document : context.current, context.root, context.budget, result.nodes);
  return result;
}

}  // namespace

bool JsonEquals(const JsonValue& one, const JsonValue& other, JsonBudget& budget) {
  if (!budget.Spend(1)) return false;
  if (!one.IsContainer()) return std::is_eq(CompareJson(one, other, budget));
  if (one.Kind() != other.Kind() || one.Size() != other.Size()) return false;
  if (one.Is(JsonKind::kArray)) {
    return std::ranges::equal(one.Elements(), other.Elements(),
                              [&](const JsonValue& a, const JsonValue& b) { return JsonEquals(a, b, budget); });
  }
  return std::ranges::all_of(one.Members(), [&](const JsonMember& member) {
    if (!budget.SpendLookUp(member.name.AsString())) return false;
    const JsonValue* value = other.Find(member.name.AsString());
    return value != nullptr && JsonEquals(member.value, *value, budget);
  });
}

JsonValue JsonKeysOf(const std::vector<const JsonValue*>& values, JsonBudget& budget) {
  std::vector<JsonValue> names;
  for (const JsonValue* value : values) {
    if (!value->Is(JsonKind::kObject)) continue;
    for (const JsonMember& member : value->Members()) {
      if (!budget.SpendCopy(member.name)) return {};
      names.push_back(member.name.Clone());
    }
  }
  return JsonValue::ArrayOf(names);
}

bool MatchesJsonPattern(Bytes text, Bytes pattern, JsonBudget& budget) {
  if (pattern.size() > kMaxJsonPattern || !budget.Spend(pattern.size())) return false;
  auto compiled = RegularExpression::Compile(pattern);
  if (!compiled) {
    // Counts the work for a regular expression that is too large, because it was compiled up to the limit.
    if (Bytes(compiled.error()) == "Out of memory") budget.Spend(RegularExpression::kMaxInstructions);
    return false;
  }
  if (!budget.Spend(compiled.value().Size()) || !budget.SpendBytes(text.size())) return false;
  return compiled.value().Matches(text, budget.left());
}

JsonOperand Evaluate(const JsonExpression& expression, const JsonContext& context) {
  constexpr uint64_t kSteps = 4;  // an operator takes about as long as four values that are only visited
  if (!context.budget.Spend(kSteps)) return {};
  const auto operand = [&](size_t i) { return Evaluate(*expression.operands[i], context); };
  switch (expression.op) {
    case JsonOperator::kLiteral: {
      JsonOperand literal;
      literal.kind = JsonOperand::Kind::kNodes;
      literal.nodes.emplace_back(&expression.literal, nullptr);
      return literal;
    }
    case JsonOperator::kPath:
      return PathOperand(expression, context);
    case JsonOperator::kNot:
      return Truth(!operand(0).IsTrue());
    case JsonOperator::kAnd:
      return Truth(std::ranges::all_of(expression.operands,
                                       [&](const auto& each) { return Evaluate(*each, context).IsTrue(); }));
    case JsonOperator::kOr:
      return Truth(std::ranges::any_of(expression.operands,
                                       [&](const auto& each) { return Evaluate(*each, context).IsTrue(); }));
    case JsonOperator::kAdd:
    case JsonOperator::kSubtract:
    case JsonOperator::kMultiply:
    case JsonOperator::kDivide:
    case JsonOperator::kRemainder:
      return Arithmetic(expression.op, operand(0), operand(1));
    case JsonOperator::kNegate:
    case JsonOperator::kPlus:
      return Signed(expression.op, operand(0));
    case JsonOperator::kFunction:
      return CallJsonFunction(expression, context);
    case JsonOperator::kKeys: {
      const JsonOperand objects = operand(0);
      return ValueOperand(JsonKeysOf(objects.All(), context.budget));
    }
    default:
      return Truth(Relates(expression.op, operand(0), operand(1), context.budget));
  }
}

}  // namespace respite
