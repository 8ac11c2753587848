// Commands that change numbers, texts and booleans in JSON documents.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datatypes/json/json_text.h"
#include "server/commands/families.h"
#include "server/commands/json/json_words.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNotAJsonNumber[] = "result is not a number";
constexpr char kNeedsJsonNumber[] = "bad input number";
constexpr char kNoJsonNumber[] = "ERR Path does not exist or does not contains a number";
constexpr char kNoJsonString[] = "ERR Path does not exist or not a string";
constexpr char kNoJsonBoolean[] = "ERR Path does not exist or not a bool";

}  // namespace
}  // namespace refusals

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Numbers

enum class NumberChange : uint8_t { kAdd, kMultiply };

// JSON.NUMINCRBY and JSON.NUMMULTBY: computes with integers if both numbers are integers and the result is one,
// otherwise with doubles. Throws if the result is not finite.
JsonValue ChangedNumber(const JsonValue& old_value, const JsonValue& operand, NumberChange change) {
  if (old_value.Is(JsonKind::kInteger) && operand.Is(JsonKind::kInteger)) {
    int64_t result = 0;
    const bool overflows = change == NumberChange::kAdd
                               ? __builtin_add_overflow(old_value.AsInteger(), operand.AsInteger(), &result)
                               : __builtin_mul_overflow(old_value.AsInteger(), operand.AsInteger(), &result);
    if (!overflows) return JsonValue::Integer(result);
  }
  const double one = old_value.ToDouble(), other = operand.ToDouble();
  const double result = change == NumberChange::kAdd ? one + other : one * other;
  if (!std::isfinite(result)) throw Refusal{refusals::kNotAJsonNumber};
  return JsonValue::Number(result);
}

void WriteNumber(Reply& reply, const JsonValue& number) {
  if (number.Is(JsonKind::kNumber)) return reply.Double(number.AsNumber());
  if (number.Is(JsonKind::kUnsigned)) return reply.BigNumber(IntegerText::FromUnsigned(number.AsUnsigned()));
  reply.Integer(number.AsInteger());
}

// Replies to JSON.NUMINCRBY or JSON.NUMMULTBY with the new numbers; null stands for a match that is no number. Under
// RESP3, the reply is an array. Under RESP2, the reply is one bulk string in JSON: an array of all numbers, or only the
// last number if the path is a legacy path (an error if there is none).
void ReplyNumbers(Call& call, const JsonPath& path, const std::vector<JsonValue>& results) {
  if (call.reply.IsResp3()) {
    call.reply.Array(results.size());
    for (const JsonValue& result : results) {
      result.Is(JsonKind::kNull) ? call.reply.Null() : WriteNumber(call.reply, result);
    }
    return;
  }
  if (path.IsLegacy()) {
    const auto last = std::ranges::find_if(results.rbegin(), results.rend(), &JsonValue::IsNumeric);
    if (last == results.rend()) throw Refusal{refusals::kNoJsonNumber};
    return call.reply.Bulk(JsonText(*last));
  }
  std::string text = "[";
  for (size_t i = 0; i < results.size(); ++i) {
    if (i != 0) text += ',';
    AppendJson(text, results[i]);
  }
  text += ']';
  call.reply.Bulk(text);
}

JsonValue ParseJsonOperand(Bytes text) {
  JsonValue operand = ParseJsonArgument(text, JsonErrorPrefix::kErr);
  if (!operand.IsNumeric()) throw Refusal{refusals::kNeedsJsonNumber};
  return operand;
}

void ChangeNumbers(Call& call, NumberChange change, const KeyEvent& event) {
  const Bytes key = call.args.Next();
  const Bytes path_text = TakeJsonText(call);
  const Bytes operand_text = TakeJsonText(call);
  Edit<Json> document = OpenExistingJson(call, key);
  const JsonPath path = ParseJsonPath(call, path_text);
  const JsonTargets targets = SelectJsonTargets(path, document->Document().root());
  std::vector<JsonValue> results(targets.values.size());
  JsonValue operand, current;
  const JsonValue* previous = nullptr;
  uint64_t changes = 0;
  targets.ForEach([&](const JsonValue& target, size_t i) {
    if (!target.IsNumeric()) return;
    // As in Redis, the operand of JSON.NUMINCRBY or JSON.NUMMULTBY is checked only if there is a number to change.
    if (changes == 0) operand = ParseJsonOperand(operand_text);
    if (&target != previous) current = target.Clone();
    previous = &target;
    current = ChangedNumber(current, operand, change);
    results[i] = current.Clone();
    ++changes;
  });
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].IsNumeric()) *targets.values[i] = results[i].Clone();
  }
  if (changes > 0) document.ReportChange(event, changes);
  ReplyNumbers(call, path, results);
}

struct JsonNumIncrBy {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.NUMINCRBY key path value:double",
      .summary = "Adds a number to numbers in a JSON document.",
      .since = "8.0.0",
      .complexity = "O(1) for a path with one match, otherwise O(N), N being the size of the document",
      .group = CommandGroup::kModule,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) { ChangeNumbers(call, NumberChange::kAdd, "json.numincrby"); }
};

struct JsonNumMultBy {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.NUMMULTBY key path value:double",
      .summary = "Multiplies numbers in a JSON document by a number.",
      .since = "8.0.0",
      .complexity = "O(1) for a path with one match, otherwise O(N), N being the size of the document",
      .group = CommandGroup::kModule,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) { ChangeNumbers(call, NumberChange::kMultiply, "json.nummultby"); }
};

// ---------------------------------------------------------------------------------------------------------------------
// Texts and booleans

struct JsonStrAppend {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.STRAPPEND key [path] value",
      .summary = "Appends a text to texts in a JSON document.",
      .since = "8.0.0",
      .complexity = "O(1) for a path with one match, otherwise O(N), N being the size of the document",
      .group = CommandGroup::kModule,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const Bytes path_text = call.args.Left() > 1 ? TakeJsonText(call) : Bytes(".");
    const Bytes text = TakeJsonText(call);  // as in Redis, further arguments are ignored
    Edit<Json> document = OpenExistingJson(call, key);
    const JsonPath path = ParseJsonPath(call, path_text);
    const auto is_string = [](const JsonValue& value) { return value.Is(JsonKind::kString); };
    const JsonTargets targets =
        SelectJsonTargetsOf(path, document->Document().root(), refusals::kNoJsonString, is_string);
    JsonValue added = JsonValue::String({});
    // As in Redis, the argument `value` of JSON.STRAPPEND is parsed and checked only if the path selects a string.
    if (std::ranges::any_of(targets.values, [&](const JsonValue* target) { return is_string(*target); })) {
      added = ParseJsonArgument(text, JsonErrorPrefix::kErr);
      if (!is_string(added)) throw Refusal{refusals::kWrongJsonString};
    }
    JsonBudget budget;
    SpendForCopies(budget, {&added, 1}, targets.values.size());
    const auto lengths = Append(call, targets, added.AsString());
    const auto changes = std::ranges::count_if(lengths, [](const auto& length) { return length.has_value(); });
    if (changes > 0) document.ReportChange("json.strappend", static_cast<uint64_t>(changes));
    const auto reply = [&](const std::optional<int64_t>& length) {
      length ? call.reply.Integer(*length) : call.reply.Null();
    };
    if (path.IsLegacy()) return reply(lengths.back());
    call.reply.Array(lengths.size());
    std::ranges::for_each(lengths, reply);
  }

 private:
  // JSON.STRAPPEND: appends `suffix` to each target that is a string. Returns the new length of each target; nullopt:
  // it is no string. Copies a string only once, even if the path selects it many times.
  static std::vector<std::optional<int64_t>> Append(Call& call, const JsonTargets& targets, Bytes suffix) {
    std::vector<std::optional<int64_t>> lengths(targets.values.size());
    size_t length = 0;
    const JsonValue* previous = nullptr;
    targets.ForEach([&](const JsonValue& target, size_t i) {
      if (!target.Is(JsonKind::kString)) return;
      length = (&target == previous ? length : target.AsString().size()) + suffix.size();
      previous = &target;
      if (length > call.MaxStringBytes()) throw Refusal{refusals::kOutOfRange};
      lengths[i] = static_cast<int64_t>(length);
    });
    for (size_t i = lengths.size(); i-- > 0;) {
      JsonValue& target = *targets.values[i];
      // If the path selects a text several times, its last target has the greatest of its `lengths`. The loop begins
      // there and appends all suffixes together, so for the earlier targets the text is already long enough.
      if (!lengths[i] || static_cast<size_t>(*lengths[i]) <= target.AsString().size()) continue;
      std::string text(target.AsString());
      while (text.size() < static_cast<size_t>(*lengths[i])) text += suffix;
      target = JsonValue::String(text);
    }
    return lengths;
  }
};

struct JsonToggle {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.TOGGLE key path",
      .summary = "Negates booleans in a JSON document.",
      .since = "8.0.0",
      .complexity = "O(1) for a path with one match, otherwise O(N), N being the size of the document",
      .group = CommandGroup::kModule,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const Bytes path_text = TakeJsonText(call);
    Edit<Json> document = OpenExistingJson(call, key);
    const JsonPath path = ParseJsonPath(call, path_text);
    const JsonTargets targets =
        SelectJsonTargetsOf(path, document->Document().root(), refusals::kNoJsonBoolean,
                            [](const JsonValue& value) { return value.Is(JsonKind::kBoolean); });
    uint64_t changes = 0;
    std::vector<std::optional<bool>> results;
    for (JsonValue* target : targets.values) {
      std::optional<bool>& result = results.emplace_back();
      if (!target->Is(JsonKind::kBoolean)) continue;
      result = !target->AsBoolean();
      *target = JsonValue::Boolean(*result);
      ++changes;
    }
    if (changes > 0) document.ReportChange("json.toggle", changes);
    if (path.IsLegacy()) return call.reply.Bulk(*results.back() ? "true" : "false");
    call.reply.Array(results.size());
    for (const std::optional<bool>& result : results) {
      result ? call.reply.Integer(*result ? 1 : 0) : call.reply.Null();
    }
  }
};

constexpr auto kJsonChangeCommands = Family<JsonNumIncrBy, JsonNumMultBy, JsonStrAppend, JsonToggle>();

}  // namespace

std::span<const CommandCard> JsonChangeCommands() { return kJsonChangeCommands; }

}  // namespace respite
