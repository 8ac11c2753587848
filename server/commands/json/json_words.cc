#include "server/commands/json/json_words.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/str_cat.h"
#include "datatypes/json/json_parser.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kWrongJsonKeyType[] = "ERR Existing key has wrong Redis type";
constexpr char kTooManyMatches[] = "ERR the path selects too many values";
constexpr char kTooMuchWork[] = "ERR the command would take too many steps";
constexpr char kTooDeep[] = "ERR recursion limit exceeded";
constexpr char kTooManyCopies[] = "ERR the command would store too much data";
constexpr char kComputes[] = "ERR this command takes no path that computes values";

}  // namespace

Refusal JsonPathMissing(Bytes path) { return {StrCat("ERR Path '", ShownPart(path), "' does not exist")}; }

Refusal JsonPathMissingOrNot(Bytes path, Bytes kind) {
  return {StrCat("ERR Path '", ShownPart(path), "' does not exist or not ", kind)};
}

Refusal WrongJsonType(Bytes expected, const JsonValue* found) {
  return {StrCat("WRONGTYPE wrong type of path value - expected ", expected, " but found ",
                 found == nullptr ? Bytes("null") : JsonTypeName(*found))};
}

}  // namespace refusals

JsonPath ParseJsonPath(Bytes text) {
  auto path = JsonPath::Parse(text);
  if (!path) throw Refusal{std::move(path).error()};
  return std::move(path).value();
}

JsonPath TakeJsonPath(Call& call) { return ParseJsonPath(call.args.Next()); }

JsonPath TakeOptionalJsonPath(Call& call) { return call.args.AtEnd() ? LegacyJsonRoot() : TakeJsonPath(call); }

JsonPath LegacyJsonRoot() { return ParseJsonPath("."); }

JsonValue ParseJsonArgument(Bytes text) {
  auto value = ParseJson(text);
  if (!value) throw Refusal{"ERR " + std::move(value).error()};
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
  if (path.Computes()) throw Refusal{refusals::kComputes};
  JsonMatches matches = path.Select(root, budget);
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

void CheckJsonBudget(JsonBudget& budget, uint64_t steps) {
  if (!budget.Spend(steps)) throw Refusal{refusals::kTooMuchWork};
}

std::vector<JsonValue*> SelectJsonTargets(const JsonPath& path, JsonValue& root) {
  JsonBudget budget;
  return SelectJsonTargets(path, root, budget);
}

std::vector<JsonValue*> SelectJsonTargets(const JsonPath& path, JsonValue& root, JsonBudget& budget) {
  std::vector<JsonValue*> targets;
  std::unordered_set<const JsonValue*> known;
  const JsonMatches matches = SelectJsonValues(path, root, budget);
  const bool may_repeat = MayRepeat(path);
  targets.reserve(matches.size());
  for (const JsonMatch& match : matches) {
    if (!may_repeat || known.insert(match.value).second) {
      targets.push_back(const_cast<JsonValue*>(match.value));
    }
  }
  return targets;
}

void CheckJsonDepth(const JsonPath& path, const JsonValue& root, size_t levels_below, size_t depth) {
  if (depth == 0 && levels_below == 0) return;
  const bool descends = std::ranges::any_of(path.Steps(), &JsonStep::is_recursive);
  const size_t levels = descends ? root.Depth() : path.Steps().size();
  if (levels + levels_below + depth > JsonValue::kMaxDepth) throw Refusal{refusals::kTooDeep};
}

void CheckJsonCopies(Call& call, size_t bytes, size_t count) {
  if (count > 1 && bytes > call.MaxStringBytes() / count) throw Refusal{refusals::kTooManyCopies};
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
