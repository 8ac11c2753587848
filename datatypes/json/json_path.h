// JsonPath: a path that selects values inside a JSON document.
//
//   $.store.book[0].title          names and indexes                $["a name"]     any name
//   $.*   $[*]   $..price          all; at any depth                $[-1]           from the end
//   $[1,2]   $["a","b"]            several                          $[0:10:2]       a slice
//   $.book[?(@.price < 10 && @.isbn)]                               a filter
//
// Paths that do not begin with $ have the older form: "." is the document, ".a", "a" and "['a']" are its member a. They
// select the same values as with $, but commands reply to them in another form, about one of the values only.
//
// A path may also compute values, as in Redis 8.10: "$.a + $.b * 2", "$.list.length()", "$.object~". json_expression.h
// has the operators and functions.
//
// The work of a selection is limited, because a path such as $..*..*..* can select more values than memory can hold.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "datatypes/json/json_value.h"

namespace respite {

struct JsonExpression;

class JsonBudget {  // limits the work of selections
 public:
  static constexpr uint64_t kMaxSteps = 10'000'000;  // steps that a command may take, one for each visited value
  static constexpr size_t kBytesPerStep = 16;        // this many bytes of a text cost one step
  static constexpr size_t kLongName = 64;            // bytes; looking up a shorter name is free

  explicit JsonBudget(uint64_t steps = kMaxSteps) : left_(steps) {}

  bool Spend(uint64_t steps) {  // counts steps; false: the limit was reached, now or before
    left_ -= left_ < steps ? left_ : steps;
    return left_ != 0;
  }
  // Spends one step, and one more for each kBytesPerStep bytes of a text that is read or copied.
  bool SpendBytes(size_t bytes) { return Spend(bytes / kBytesPerStep + 1); }  // false: the limit was reached
  // Spends the steps of finding a member. Short names are free, because they cost no more than the visit of the object.
  bool SpendLookUp(Bytes name) {  // spends the steps of a look-up; false: the limit was reached
    return name.size() < kLongName ? !IsSpent() : SpendBytes(name.size());
  }
  bool SpendCopy(const JsonValue& value);      // spends the steps of value.Clone(); false: the limit was reached
  bool IsSpent() const { return left_ == 0; }  // true: no step is left, so the result may be incomplete
  uint64_t& left() { return left_; }           // the steps that are left, for code that counts them down itself

 private:
  uint64_t left_;  // number of steps that may still be done
};

class JsonMatch {  // a value that a path has selected
 public:
  JsonMatch(const JsonValue* value, const JsonValue* parent) : JsonMatch(JsonElement(value), parent) {}
  JsonMatch(JsonElement value, const JsonValue* parent) : value_(std::move(value)), parent_(parent) {}

  const JsonValue& Value() const { return *value_; }               // the selected value
  const JsonValue* InMemory() const { return value_.InMemory(); }  // null: Value() is a copy of a packed number
  const JsonValue* Parent() const { return parent_; }  // the array or object that has the value; null: the document

 private:
  JsonElement value_;        // the selected value, or a copy of it
  const JsonValue* parent_;  // null: the value is the document
};
using JsonMatches = std::vector<JsonMatch>;

struct JsonStep {  // one part of a path: .name, [index], [start:end], .*, [?(…)]
  enum class Kind : uint8_t { kNames, kAll, kIndexes, kSlice, kFilter };

  Kind kind = Kind::kAll;
  bool is_recursive = false;            // true: after "..", so it applies to a value and all values inside it
  std::vector<std::string> names = {};  // for kNames: the names of the selected members
  std::vector<int64_t> indexes = {};    // for kIndexes; negative: from the end
  std::optional<int64_t> start = {};    // for kSlice; nullopt: from the beginning
  std::optional<int64_t> end = {};      // for kSlice, exclusive; nullopt: to the end
  int64_t stride = 1;                   // for kSlice, positive
  std::shared_ptr<const JsonExpression> filter = {};  // for kFilter: decides which elements or members are selected

  bool SelectsOne() const {  // true: selects one value at most
    return !is_recursive &&
           ((kind == Kind::kNames && names.size() == 1) || (kind == Kind::kIndexes && indexes.size() == 1));
  }
};
using JsonSteps = std::vector<JsonStep>;

// The steps begin at `start`; filters may refer to `root`. Stops when the budget is spent.
void SelectJson(const JsonSteps& steps, const JsonMatch& start,  // appends to `matches` the values that `steps` select
                const JsonValue& root, JsonBudget& budget, JsonMatches& matches);

// Redis 8.10 has added computations to the paths of Redis 8.6: operators, functions, and ~ after a name.
enum class JsonPathGrammar : uint8_t { kPlain, kComputing };

class JsonPath {  // a parsed path
 public:
  static constexpr size_t kMaxTextBytes = 64 * 1024;  // a longer path is refused
  static constexpr size_t kMaxNesting = 64;           // maximum nesting of parentheses, filters and functions
  static constexpr size_t kMaxOperators = 500;        // maximum number of operators in all expressions of a path

  static Result<JsonPath, std::string> Parse(  // the error says what is wrong, and where
      Bytes text, JsonPathGrammar grammar = JsonPathGrammar::kComputing);

  static bool IsLegacyText(Bytes text) {  // false: "$", or begins with "$." or "$["
    return text != "$" && !text.starts_with("$.") && !text.starts_with("$[");
  }

  Bytes Text() const { return text_; }          // the path as the client has written it
  bool IsLegacy() const { return is_legacy_; }  // true: has no root $, so commands reply about one match only
  bool IsRoot() const { return computed_ == nullptr && steps_.empty(); }  // true: the whole document
  bool IsStatic() const;                                      // true: selects one value at most, by names and indexes
  bool IsExpression() const { return computed_ != nullptr; }  // true: computes new values, as in "$.a + 1"
  const JsonSteps& Steps() const { return steps_; }           // the steps after $, in order

  // Requires: !IsExpression(). Returns, for each match of the previous step, what the step selects there, and then what
  // it selects deeper. A union keeps the order in which it is written. A value may be selected several times. Stops
  // when the budget is spent. Cost: O(visited values).
  JsonMatches Select(const JsonValue& root, JsonBudget& budget) const;  // the values that the path selects
  // Acts as Select, but first unpacks each array of packed numbers in which it selects or filters elements. So no match
  // is a copy.
  JsonMatches SelectToChange(JsonValue& root, JsonBudget& budget) const;  // the values that the path selects
  // Requires: !IsExpression(), !IsRoot(). Returns what the path without its last step selects.
  JsonMatches SelectParents(const JsonValue& root, JsonBudget& budget) const;  // selects without the path's last step
  // Requires: IsExpression().
  std::vector<JsonValue> Compute(const JsonValue& root,
                                 JsonBudget& budget) const;  // values of an expression: "$.a + 1"

 private:
  friend class JsonPathParser;

  std::string text_;
  bool is_legacy_ = false;  // true: has no root $, so commands reply about one match only
  JsonSteps steps_;         // the steps of the path after its root; not used if `computed_` is not null
  std::shared_ptr<const JsonExpression> computed_;  // the whole path, if it computes values; otherwise null
};

}  // namespace respite
