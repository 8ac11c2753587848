// The functions of JSON paths: length(), sum() and so on.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/str_cat.h"
#include "datatypes/json/json_expression.h"

namespace respite {

namespace {

struct FunctionName {
  Bytes name;
  JsonFunction function;
};
constexpr FunctionName kFunctions[] = {
    {"length", JsonFunction::kLength}, {"count", JsonFunction::kCount},   {"value", JsonFunction::kValue},
    {"keys", JsonFunction::kKeys},     {"match", JsonFunction::kMatch},   {"search", JsonFunction::kSearch},
    {"concat", JsonFunction::kConcat}, {"abs", JsonFunction::kAbs},       {"ceiling", JsonFunction::kCeiling},
    {"floor", JsonFunction::kFloor},   {"first", JsonFunction::kFirst},   {"last", JsonFunction::kLast},
    {"index", JsonFunction::kIndex},   {"append", JsonFunction::kAppend}, {"min", JsonFunction::kMin},
    {"max", JsonFunction::kMax},       {"avg", JsonFunction::kAvg},       {"sum", JsonFunction::kSum},
    {"stddev", JsonFunction::kStddev}};

JsonOperand FunctionValue(JsonValue value) {
  JsonOperand result;
  result.kind = JsonOperand::Kind::kValue;
  result.value = std::move(value);
  return result;
}

JsonOperand FunctionTruth(bool truth) {
  JsonOperand result;
  result.kind = JsonOperand::Kind::kTruth;
  result.truth = truth;
  return result;
}

JsonOperand FunctionNumber(double number) {
  if (!std::isfinite(number)) return {};
  return FunctionValue(JsonValue::Number(number));
}

// Returns a copy of a value; Nothing if the budget is too small for the copy.
JsonOperand FunctionCopy(const JsonValue& value, JsonBudget& budget) {
  return budget.SpendCopy(value) ? FunctionValue(value.Clone()) : JsonOperand();
}

JsonOperand LengthOf(const JsonValue& value, JsonBudget& budget) {
  if (value.IsContainer()) return FunctionValue(JsonValue::Integer(static_cast<int64_t>(value.Size())));
  if (!value.Is(JsonKind::kString) || !budget.SpendBytes(value.AsString().size())) return {};
  const auto count =
      std::ranges::count_if(value.AsString(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; });
  return FunctionValue(JsonValue::Integer(count));
}

JsonOperand Concatenated(std::span<const JsonValue* const> texts, JsonBudget& budget) {
  // The whole size is checked before anything is copied.
  size_t size = 0;
  for (const JsonValue* text : texts) {
    if (!text->Is(JsonKind::kString) || !budget.SpendBytes(text->AsString().size())) return {};
    size += text->AsString().size();
  }
  std::string all;
  all.reserve(size);
  for (const JsonValue* text : texts) all += text->AsString();
  return FunctionValue(JsonValue::String(all));
}

JsonOperand Absolute(const JsonValue& value) {
  if (value.Is(JsonKind::kInteger)) {
    const int64_t number = value.AsInteger();
    if (number == std::numeric_limits<int64_t>::min()) return {};
    return FunctionValue(JsonValue::Integer(number < 0 ? -number : number));
  }
  if (value.Is(JsonKind::kUnsigned)) return FunctionValue(value.Clone());
  return FunctionNumber(std::fabs(value.AsNumber()));
}

JsonOperand Rounded(const JsonValue& value, JsonFunction function) {
  if (!value.Is(JsonKind::kNumber)) return FunctionValue(value.Clone());
  const double number = value.AsNumber();
  return FunctionNumber(function == JsonFunction::kFloor ? std::floor(number) : std::ceil(number));
}

JsonOperand ElementAt(const JsonValue& array, double index, JsonBudget& budget) {
  if (!array.Is(JsonKind::kArray) || !std::isfinite(index)) return {};
  const double size = static_cast<double>(array.Size());
  const double place = std::trunc(index) < 0 ? std::trunc(index) + size : std::trunc(index);
  if (place < 0 || place >= size) return {};
  return FunctionCopy(*array.Elements()[static_cast<size_t>(place)], budget);
}

// Computes min(), max(), sum(), avg() or stddev() of an array of numbers. Returns kNothing if the value is no array, is
// empty or has an element that is no number, or if the budget is used up.
JsonOperand Aggregate(const JsonValue& array, JsonFunction function, JsonBudget& budget) {
  if (!array.Is(JsonKind::kArray) || array.Size() == 0) return {};
  const JsonElements elements = array.Elements();
  if (!budget.Spend(elements.size())) return {};
  std::vector<double> numbers;  // each element is read once, because reading a packed number may take 100 ns
  numbers.reserve(elements.size());
  int64_t integer_sum = 0;
  bool is_integer = true;
  for (const JsonValue& element : elements) {
    if (!element.IsNumeric()) return {};
    numbers.push_back(element.ToDouble());
    is_integer = is_integer && element.Is(JsonKind::kInteger) &&
                 !__builtin_add_overflow(integer_sum, element.AsInteger(), &integer_sum);
  }
  if (function == JsonFunction::kMin || function == JsonFunction::kMax) {
    const auto best =
        function == JsonFunction::kMin ? std::ranges::min_element(numbers) : std::ranges::max_element(numbers);
    return FunctionValue(elements[static_cast<size_t>(best - numbers.begin())]->Clone());
  }
  if (function == JsonFunction::kSum && is_integer) return FunctionValue(JsonValue::Integer(integer_sum));
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  if (function == JsonFunction::kSum) return FunctionNumber(sum);
  const double mean = sum / static_cast<double>(numbers.size());
  if (function == JsonFunction::kAvg) return FunctionNumber(mean);
  double squares = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return FunctionNumber(std::sqrt(squares / static_cast<double>(numbers.size())));
}

JsonOperand Searched(const JsonValue& text, const JsonValue& pattern, JsonFunction function, JsonBudget& budget) {
  if (!text.Is(JsonKind::kString) || !pattern.Is(JsonKind::kString)) return FunctionTruth(false);
  if (function == JsonFunction::kSearch) {
    return FunctionTruth(MatchesJsonPattern(text.AsString(), pattern.AsString(), budget));
  }
  if (pattern.AsString().size() > kMaxJsonPattern) return FunctionTruth(false);
  return FunctionTruth(MatchesJsonPattern(text.AsString(), StrCat("^(", pattern.AsString(), ")$"), budget));
}

// Appends copies of values. Returns false, and copies nothing, if the budget is too small.
bool AppendCopies(std::vector<JsonValue>& copies, std::span<const JsonValue* const> values, JsonBudget& budget) {
  for (const JsonValue* value : values) {
    if (!budget.SpendCopy(*value)) return false;
  }
  copies.reserve(copies.size() + values.size());
  for (const JsonValue* value : values) copies.push_back(value->Clone());
  return true;
}

JsonOperand Appended(const JsonOperand& receiver, std::span<JsonOperand> added, JsonBudget& budget) {
  std::vector<JsonValue> elements;
  const JsonValue* array = receiver.Single();
  if (array != nullptr && array->Is(JsonKind::kArray)) {
    if (!budget.SpendCopy(*array)) return {};
    for (const JsonValue& element : array->Elements()) elements.push_back(element.Clone());
  } else if (receiver.kind == JsonOperand::Kind::kNodes && receiver.nodes.size() != 1) {
    if (!AppendCopies(elements, receiver.All(), budget)) return {};
  } else {
    return {};
  }
  for (JsonOperand& operand : added) {
    if (const JsonValue* value = operand.Single()) {
      if (!AppendCopies(elements, {&value, 1}, budget)) return {};
    } else if (operand.kind == JsonOperand::Kind::kNodes && !operand.nodes.empty()) {
      std::vector<JsonValue> nodes;
      if (!AppendCopies(nodes, operand.All(), budget)) return {};
      elements.push_back(JsonValue::ArrayOf(nodes));
    } else {
      return {};
    }
  }
  return FunctionValue(JsonValue::ArrayOf(elements));
}

// Calls a function whose arguments are one value each.
JsonOperand CallWithValues(JsonFunction function, std::span<const JsonValue* const> values, JsonBudget& budget) {
  const JsonValue& first = *values[0];
  switch (function) {
    case JsonFunction::kLength:
      return LengthOf(first, budget);
    case JsonFunction::kMatch:
    case JsonFunction::kSearch:
      return Searched(first, *values[1], function, budget);
    case JsonFunction::kConcat:
      return Concatenated(values, budget);
    case JsonFunction::kAbs:
      return first.IsNumeric() ? Absolute(first) : JsonOperand();
    case JsonFunction::kCeiling:
    case JsonFunction::kFloor:
      return first.IsNumeric() ? Rounded(first, function) : JsonOperand();
    case JsonFunction::kFirst:
      return ElementAt(first, 0, budget);
    case JsonFunction::kLast:
      return ElementAt(first, -1, budget);
    case JsonFunction::kIndex:
      return values[1]->IsNumeric() ? ElementAt(first, values[1]->ToDouble(), budget) : JsonOperand();
    default:
      return Aggregate(first, function, budget);
  }
}

size_t ArgumentsOf(JsonFunction function) {
  const bool takes_two =
      function == JsonFunction::kMatch || function == JsonFunction::kSearch || function == JsonFunction::kIndex;
  return takes_two ? 2 : 1;
}

}  // namespace

std::optional<JsonFunction> FindPathFunction(Bytes name) {
  for (const FunctionName& each : kFunctions) {
    if (each.name == name) return each.function;
  }
  return std::nullopt;
}

JsonOperand CallJsonFunction(const JsonExpression& call, const JsonContext& context) {
  std::vector<JsonOperand> arguments;
  for (const auto& operand : call.operands) arguments.push_back(Evaluate(*operand, context));
  const JsonFunction function = call.function;
  const bool takes_any = function == JsonFunction::kConcat || function == JsonFunction::kAppend;
  if (takes_any ? arguments.size() < (function == JsonFunction::kAppend ? 2 : 1)
                : arguments.size() != ArgumentsOf(function)) {
    return {};
  }
  if (function == JsonFunction::kAppend) return Appended(arguments[0], std::span(arguments).subspan(1), context.budget);
  if (function == JsonFunction::kCount) {
    const JsonOperand& nodes = arguments[0];
    // count() returns the number of matches of a path, the number of elements of a computed array, and 1 for any other
    // computed value.
    const JsonValue* value = nodes.kind == JsonOperand::Kind::kValue ? &nodes.value : nullptr;
    const size_t count = value == nullptr ? nodes.nodes.size() : value->Is(JsonKind::kArray) ? value->Size() : 1;
    return FunctionValue(JsonValue::Integer(static_cast<int64_t>(count)));
  }
  std::vector<const JsonValue*> values;
  values.reserve(arguments.size());
  for (const JsonOperand& argument : arguments) values.push_back(argument.Single());
  if (function == JsonFunction::kKeys) {
    const auto objects = arguments[0].All();
    const bool has_object = std::ranges::any_of(objects, [](const JsonValue* v) { return v->Is(JsonKind::kObject); });
    return has_object ? FunctionValue(JsonKeysOf(objects, context.budget)) : JsonOperand();
  }
  if (std::ranges::find(values, nullptr) != values.end()) return {};
  if (function == JsonFunction::kValue) return FunctionCopy(*values[0], context.budget);
  return CallWithValues(function, values, context.budget);
}

}  // namespace respite
