// Commands that change numbers, texts and booleans in JSON documents.
#include <algorithm>
#include <cmath>
#include <functional>
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

constexpr char kNotAJsonNumber[] = "ERR result is not a number";
constexpr char kNeedsJsonNumber[] = "ERR expected a number";

}  // namespace
}  // namespace refusals

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Numbers

enum class NumberChange : uint8_t { kAdd, kMultiply };

// Computes with integers if both numbers are integers and the result is one, otherwise with doubles. Throws if the
// result is not finite.
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

// Replies with the new numbers; null stands for a match that is no number. Under RESP2, the reply is one text in JSON.
void ReplyNumbers(Call& call, const JsonPath& path, const std::vector<JsonValue>& results) {
  const auto shown = std::span(results).last(path.IsLegacy() ? 1 : results.size());
  if (path.IsLegacy() && !call.reply.IsResp3()) return call.reply.Bulk(JsonText(shown.front()));
  if (call.reply.IsResp3()) {
    call.reply.Array(shown.size());
    for (const JsonValue& result : shown) {
      result.Is(JsonKind::kNull) ? call.reply.Null() : WriteNumber(call.reply, result);
    }
    return;
  }
  std::string text = "[";
  for (size_t i = 0; i < results.size(); ++i) {
    if (i != 0) text += ',';
    AppendJson(text, results[i]);
  }
  text += ']';
  call.reply.Bulk(text);
}

void ChangeNumbers(Call& call, NumberChange change, const KeyEvent& event) {
  auto [key, path_text, operand_text] = call.args.Take<Bytes, Bytes, Bytes>();
  const JsonPath path = ParseJsonPath(path_text);
  const JsonValue operand = ParseJsonArgument(operand_text);
  if (!operand.IsNumeric()) throw Refusal{refusals::kNeedsJsonNumber};
  Edit<Json> document = OpenExistingJson(call, key);
  const std::vector<JsonValue*> targets =
      SelectJsonTargetsOf(path, document->Document().root(), "a number", std::mem_fn(&JsonValue::IsNumeric));
  std::vector<JsonValue> results(targets.size());
  uint64_t changes = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!targets[i]->IsNumeric()) continue;
    results[i] = ChangedNumber(*targets[i], operand, change);
    ++changes;
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (results[i].IsNumeric()) *targets[i] = results[i].Clone();
  }
  if (changes > 0) document.ReportChange(event, changes);
  ReplyNumbers(call, path, results);
}

struct JsonNumIncrBy {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.NUMINCRBY key path value",
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
      .syntax = "JSON.NUMMULTBY key path value",
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
    const JsonPath path = call.args.Left() > 1 ? TakeJsonPath(call) : LegacyJsonRoot();
    const JsonValue added = ParseJsonArgument(call.args.Next());
    call.args.ExpectEnd();
    if (!added.Is(JsonKind::kString)) throw refusals::WrongJsonType("string", &added);
    Edit<Json> document = OpenExistingJson(call, key);
    const std::vector<JsonValue*> targets =
        SelectJsonTargetsOf(path, document->Document().root(), "a string",
                            [](const JsonValue& value) { return value.Is(JsonKind::kString); });
    const Bytes suffix = added.AsString();
    CheckJsonCopies(call, suffix.size(), targets.size());
    uint64_t changes = 0;
    for (const JsonValue* target : targets) {
      if (!target->Is(JsonKind::kString)) continue;
      ++changes;
      if (target->AsString().size() + suffix.size() > call.MaxStringBytes()) throw Refusal{refusals::kOutOfRange};
    }
    for (JsonValue* target : targets) {
      if (target->Is(JsonKind::kString)) *target = JsonValue::String(std::string(target->AsString()).append(suffix));
    }
    if (changes > 0) document.ReportChange("json.strappend", changes);
    const auto reply = [&](const JsonValue* target) {
      target->Is(JsonKind::kString) ? call.reply.Integer(static_cast<int64_t>(target->AsString().size()))
                                    : call.reply.Null();
    };
    if (path.IsLegacy()) return reply(targets.back());
    call.reply.Array(targets.size());
    std::ranges::for_each(targets, reply);
  }
};

struct JsonToggle {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.TOGGLE key path",
      .summary = "Negates booleans in a JSON document.",
      .since = "8.0.0",
      .complexity = "O(1) for a path with one match, otherwise O(N), N being the size of the document",
      .group = CommandGroup::kModule,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const JsonPath path = TakeJsonPath(call);
    call.args.ExpectEnd();
    Edit<Json> document = OpenExistingJson(call, key);
    const std::vector<JsonValue*> targets =
        SelectJsonTargetsOf(path, document->Document().root(), "a bool",
                            [](const JsonValue& value) { return value.Is(JsonKind::kBoolean); });
    uint64_t changes = 0;
    for (JsonValue* target : targets) {
      if (!target->Is(JsonKind::kBoolean)) continue;
      *target = JsonValue::Boolean(!target->AsBoolean());
      ++changes;
    }
    if (changes > 0) document.ReportChange("json.toggle", changes);
    if (path.IsLegacy()) return call.reply.Bulk(targets.back()->AsBoolean() ? "true" : "false");
    call.reply.Array(targets.size());
    for (const JsonValue* target : targets) {
      target->Is(JsonKind::kBoolean) ? call.reply.Integer(target->AsBoolean() ? 1 : 0) : call.reply.Null();
    }
  }
};

constexpr auto kJsonChangeCommands = Family<JsonNumIncrBy, JsonNumMultBy, JsonStrAppend, JsonToggle>();

}  // namespace

std::span<const CommandCard> JsonChangeCommands() { return kJsonChangeCommands; }

}  // namespace respite
