#include "server/commands/json/json_words.h"

#include <algorithm>
#include <utility>

#include "datatypes/json/json_parser.h"
#include "datatypes/json/json_text.h"
#include "server/catalogue/dialect.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kWrongJsonKeyType[] = "Existing key has wrong Redis type";
constexpr char kNoJsonInteger[] = "Couldn't parse as integer";
constexpr char kTooManyMatches[] = "ERR the path selects too many values";
constexpr char kTooMuchWork[] = "ERR the command would take too many steps";
constexpr char kTooDeep[] = "ERR recursion limit exceeded";
constexpr char kTooManyCopies[] = "ERR the command would store too much data";
constexpr char kComputes[] = "ERR this command takes no path that computes values";

}  // namespace

}  // namespace refusals

Bytes TakeJsonText(Call& call) {
  const Bytes text = call.args.Next();
  if (ValidUtf8Bytes(text) != text.size()) throw Refusal{refusals::kNotUtf8};
  return text;
}

int64_t TakeJsonInteger(Call& call) { return call.args.NextInteger(refusals::kNoJsonInteger); }

Bytes TakeOptionalJsonPath(Call& call) { return call.args.AtEnd() ? Bytes(".") : TakeJsonText(call); }

JsonPath ParseJsonPath(const Call& call, Bytes text) {
  const bool computes = call.services.env.dialect.traits.json_paths_compute;
  auto path = JsonPath::Parse(text, computes ? JsonPathGrammar::kComputing : JsonPathGrammar::kPlain);
  if (!path) throw Refusal{std::move(path).error()};
  return std::move(path).value();
}

JsonValue ParseJsonArgument(Bytes text, JsonErrorPrefix prefix) {
  auto value = ParseJson(text);
  if (!value) throw Refusal{(prefix == JsonErrorPrefix::kErr ? "ERR " : "") + std::move(value).error()};
  return std::move(value).value();
}

namespace {

void CheckJsonKey(const Entry* entry) {
  if (entry != nullptr && entry->Type() != ValueType::kJson) throw Refusal{refusals::kWrongJsonKeyType};
}

}  // namespace

const JsonValue* ReadJson(Call& call, Bytes key) {
  const Entry* entry = call.db.Read(key);
  CheckJsonKey(entry);
  return entry == nullptr ? nullptr : &static_cast<const JsonDocument*>(entry->ObjectValue())->root();
}

const JsonValue* PeekJson(Call& call, Bytes key) {
  const Entry* entry = call.db.Peek(key);
  CheckJsonKey(entry);
  return entry == nullptr ? nullptr : &static_cast<const JsonDocument*>(entry->ObjectValue())->root();
}

Edit<Json> OpenJson(Call& call, Bytes key) {
  CheckJsonKey(call.db.Peek(key));
  return call.db.Open<Json>(key);
}

Edit<Json> OpenExistingJson(Call& call, Bytes key) {
  const Entry* entry = call.db.Peek(key);
  CheckJsonKey(entry);
  if (entry == nullptr) throw Refusal{refusals::kNoJsonKey};
  return call.db.Open<Json>(key);
}

JsonMatches SelectJsonValues(const JsonPath& path, const JsonValue& root) {
  JsonBudget budget;
  return SelectJsonValues(path, root, budget);
}

JsonMatches SelectJsonValues(const JsonPath& path, const JsonValue& root, JsonBudget& budget) {
  if (path.IsExpression()) throw Refusal{refusals::kComputes};
  JsonMatches matches = path.Select(root, budget);
  if (budget.IsSpent()) throw Refusal{refusals::kTooManyMatches};
  return matches;
}

JsonMatches SelectJsonToChange(const JsonPath& path, JsonValue& root) {
  JsonBudget budget;
  return SelectJsonToChange(path, root, budget);
}

JsonMatches SelectJsonToChange(const JsonPath& path, JsonValue& root, JsonBudget& budget) {
  if (path.IsExpression()) throw Refusal{refusals::kComputes};
  JsonMatches matches = path.SelectToChange(root, budget);
  if (budget.IsSpent()) throw Refusal{refusals::kTooManyMatches};
  return matches;
}

namespace {

// Returns true if a path may select the same value several times, as `$..a..b` or `$[0,0]`.
bool MayRepeat(const JsonPath& path) {
  const auto is_union = [](const JsonStep& step) { return step.names.size() > 1 || step.indexes.size() > 1; };
  return std::ranges::any_of(path.Steps(), is_union) ||
         std::ranges::count_if(path.Steps(), &JsonStep::is_recursive) > 1;
}

}  // namespace

void SpendForReply(JsonBudget& budget, const JsonValue& value) {
  if (!budget.Spend(value.CountValues(budget.left()))) throw Refusal{refusals::kTooManyMatches};
}

void SpendJsonSteps(JsonBudget& budget, uint64_t steps) {
  if (!budget.Spend(steps)) throw Refusal{refusals::kTooMuchWork};
}

JsonTargets SelectJsonTargets(const JsonPath& path, JsonValue& root) {
  JsonBudget budget;
  return SelectJsonTargets(path, root, budget);
}

JsonTargets SelectJsonTargets(const JsonPath& path, JsonValue& root, JsonBudget& budget) {
  const JsonMatches matches = SelectJsonToChange(path, root, budget);
  JsonTargets targets;
  targets.may_repeat = MayRepeat(path);
  targets.values.reserve(matches.size());
  for (const JsonMatch& match : matches) targets.values.push_back(const_cast<JsonValue*>(match.InMemory()));
  return targets;
}

std::vector<JsonValue*> JsonTargets::Distinct() const {
  if (!may_repeat) return values;
  const std::vector<uint32_t> first = FirstPlaces();
  std::vector<JsonValue*> distinct;
  for (size_t i = 0; i < values.size(); ++i) {
    if (first[i] == i) distinct.push_back(values[i]);
  }
  return distinct;
}

std::vector<uint32_t> JsonTargets::FirstPlaces() const {
  std::vector<std::pair<uintptr_t, uint32_t>> sorted;  // the address of each value, and its index
  sorted.reserve(values.size());
  for (const JsonValue* value : values) {
    sorted.emplace_back(reinterpret_cast<uintptr_t>(value), static_cast<uint32_t>(sorted.size()));
  }
  std::ranges::sort(sorted);
  std::vector<uint32_t> first(values.size());
  for (size_t i = 0; i < sorted.size(); ++i) {
    const bool is_repeated = i != 0 && sorted[i].first == sorted[i - 1].first;
    first[sorted[i].second] = is_repeated ? first[sorted[i - 1].second] : sorted[i].second;
  }
  return first;
}

void CheckJsonDepth(const JsonPath& path, const JsonValue& root, size_t levels_below, size_t depth) {
  if (depth == 0 && levels_below == 0) return;
  const bool descends = std::ranges::any_of(path.Steps(), &JsonStep::is_recursive);
  const size_t levels = descends ? root.Depth() : path.Steps().size();
  if (levels + levels_below + depth > JsonValue::kMaxDepth) throw Refusal{refusals::kTooDeep};
}

void SpendForCopies(JsonBudget& budget, std::span<const JsonValue> values, size_t count) {
  if (count < 2) return;
  JsonBudget one;
  for (const JsonValue& value : values) {
    if (!one.SpendCopy(value)) throw Refusal{refusals::kTooManyCopies};
  }
  const uint64_t steps = JsonBudget::kMaxSteps - one.left();
  const bool is_too_much = steps > JsonBudget::kMaxSteps / count;
  if (!budget.Spend(is_too_much ? JsonBudget::kMaxSteps : steps * count)) throw Refusal{refusals::kTooManyCopies};
}

Bytes JsonTypeName(const JsonValue& value) {
  switch (value.Kind()) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBoolean:
      return "boolean";
    case JsonKind::kInteger:
    case JsonKind::kUnsigned:
      return "integer";
    case JsonKind::kNumber:
      return "number";
    case JsonKind::kString:
      return "string";
    case JsonKind::kArray:
      return "array";
    case JsonKind::kObject:
      return "object";
  }
  return "";
}

}  // namespace respite
