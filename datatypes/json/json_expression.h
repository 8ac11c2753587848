// JsonExpression: a condition in a filter, as in [?(@.price < 10)], or a path that computes a value, as in "$.a + 1".
//
//   || && !                                 conditions
//   == != < <= > >= =~                      comparisons; =~ searches for a regular expression
//   in nin subsetof anyof noneof            with arrays
//   size sizeof empty                       of a text, an array or an object
//   + - * / %                               with blanks around
//   @.a $.b 1 "text" 'text' [1,2] {"a":1}   paths from the current value or the document, and JSON
//   length() count() value() keys() match() search() concat() abs() ceiling() floor() first() last() index() append()
//   min() max() avg() sum() stddev() ~      functions: length(@.a) or @.a.length()
//
// A path in an expression may select several values. A comparison is true if it is true for at least one of them; !=
// is the contrary of ==. An expression that cannot be computed is Nothing, for which each comparison is false.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/regular_expression.h"
#include "datatypes/json/json_path.h"
#include "datatypes/json/json_value.h"

namespace respite {

enum class JsonOperator : uint8_t {
  kLiteral,  // a value in the expression
  kPath,     // the values that a path selects
  kNot,
  kAnd,
  kOr,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kMatches,   // =~, with a regular expression
  kIn,        // in: an element of an array
  kNotIn,     // nin
  kSubsetOf,  // subsetof
  kAnyOf,     // anyof: the arrays have a common element
  kNoneOf,    // noneof: the arrays have no common element
  kSizeIs,    // sizeof or size: the left value has this length
  kIsEmpty,   // empty: true or false on the right says whether the left value must be empty
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kNegate,
  kPlus,  // a plus sign before a number
  kFunction,
  kKeys,  // ~ after a path: the names of the members of objects
};

enum class JsonFunction : uint8_t {
  kLength,
  kCount,   // number of values that a path selects
  kValue,   // the value, if a path selects just one
  kKeys,    // names of the members of objects
  kMatch,   // whether the whole text matches a regular expression
  kSearch,  // whether a regular expression matches somewhere in the text
  kConcat,
  kAbs,
  kCeiling,
  kFloor,
  kFirst,  // first element of an array
  kLast,
  kIndex,  // the element at an index
  kAppend,
  kMin,
  kMax,
  kAvg,
  kSum,
  kStddev,
};
std::optional<JsonFunction> FindPathFunction(Bytes name);  // the function of JSON paths with this name; nullopt: none

struct JsonExpression {  // an operator with its operands
  JsonOperator op = JsonOperator::kLiteral;
  std::vector<std::unique_ptr<JsonExpression>> operands = {};  // the values that `op` combines, from left to right
  JsonValue literal = {};                                      // for kLiteral: the value
  bool from_root = false;                         // for kPath: true if the path begins with $, false if with @
  JsonSteps steps = {};                           // for kPath: the steps after $ or @
  JsonFunction function = JsonFunction::kLength;  // for kFunction: which one is called
};

struct JsonContext {         // what the paths in an expression refer to
  const JsonValue& root;     // what $ stands for: the document
  const JsonMatch& current;  // what @ stands for: the value that a filter examines; outside filters, the document
  JsonBudget& budget;        // limits the work
};

// The result of an expression. kNodes: values of the document, or a literal. kValue: one new value. kTruth: true or
// false. kNothing: there is no result.
struct JsonOperand {  // the result of an expression
  enum class Kind : uint8_t { kNothing, kNodes, kValue, kTruth };

  Kind kind = Kind::kNothing;
  JsonMatches nodes = {};  // for kNodes: the values; may be empty
  JsonValue value = {};    // for kValue: the new value
  bool truth = false;      // for kTruth: the result

  bool IsTrue() const {  // as a condition: a path is true if it selects anything
    return kind == Kind::kTruth ? truth : kind == Kind::kNodes ? !nodes.empty() : kind == Kind::kValue;
  }
  const JsonValue* Single() const {  // the value if there is exactly one; otherwise null
    if (kind == Kind::kValue) return &value;
    return kind == Kind::kNodes && nodes.size() == 1 ? &nodes.front().Value() : nullptr;
  }
  std::vector<const JsonValue*> All() const {  // all values; valid as long as the operand is
    if (kind == Kind::kValue) return {&value};
    std::vector<const JsonValue*> values;
    values.reserve(nodes.size());
    for (const JsonMatch& node : nodes) values.push_back(&node.Value());
    return values;
  }
};

JsonOperand Evaluate(const JsonExpression& expression, const JsonContext& context);    // computes an expression
JsonOperand CallJsonFunction(const JsonExpression& call, const JsonContext& context);  // calls length() or another
bool JsonEquals(const JsonValue& one, const JsonValue& other, JsonBudget& budget);     // true: equal; numbers by value
// JsonKeysOf returns one array with the member names of all objects. If the budget is spent, it returns the JSON value
// null.
JsonValue JsonKeysOf(const std::vector<const JsonValue*>& values,  // the member names of all objects among `values`
                     JsonBudget& budget);
// A pattern of more than kMaxJsonPattern bytes matches nothing.
bool MatchesJsonPattern(Bytes text, Bytes pattern,  // true: the regular expression matches some part of the text
                        JsonBudget& budget);
inline constexpr size_t kMaxJsonPattern = 8192;  // maximum bytes of a regular expression

}  // namespace respite
