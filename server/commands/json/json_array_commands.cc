// Commands that change arrays in JSON documents.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "datatypes/json/json_text.h"
#include "server/commands/families.h"
#include "server/commands/json/json_words.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kJsonArrayTooLong[] = "ERR the array would be too long";

}  // namespace
}  // namespace refusals

namespace {

// The arrays that a command changes. `matches` may also contain values that are no arrays; the reply shows null for
// them.
struct ArrayTargets {
  Edit<Json> document;
  std::vector<JsonValue*> matches;

  ArrayTargets(Call& call, Bytes key, const JsonPath& path)
      : document(OpenExistingJson(call, key)),
        matches(SelectJsonTargetsOf(path, document->Document().root(), "an array",
                                    [](const JsonValue& value) { return value.Is(JsonKind::kArray); })) {}
};

// Calls change(array) for each array, the last one first (SelectJsonTargets explains why), and replies with the new
// lengths.
template <class Change>
void ChangeArrays(Call& call, const JsonPath& path, ArrayTargets& targets, const KeyEvent& event, Change&& change) {
  std::vector<std::optional<size_t>> lengths(targets.matches.size());
  uint64_t changes = 0;
  for (size_t i = targets.matches.size(); i-- > 0;) {
    JsonValue& match = *targets.matches[i];
    if (!match.Is(JsonKind::kArray)) continue;
    change(match);
    lengths[i] = match.Size();
    ++changes;
  }
  if (changes > 0) targets.document.ReportChange(event, changes);
  if (path.IsLegacy()) return call.reply.Integer(static_cast<int64_t>(*lengths.back()));
  call.reply.Array(lengths.size());
  for (const std::optional<size_t>& length : lengths) {
    length ? call.reply.Integer(static_cast<int64_t>(*length)) : call.reply.Null();
  }
}

std::vector<JsonValue> TakeJsonValues(Call& call, size_t& bytes, size_t& depth) {
  std::vector<JsonValue> values;
  for (const Bytes word : call.args.Rest()) {
    values.push_back(ParseJsonArgument(word));
    bytes += word.size();
    depth = std::max(depth, values.back().Depth());
  }
  return values;
}

// Inserts copies of the remaining arguments into each array that the path selects, at the index that place(array)
// returns.
template <class Place>
void InsertCopies(Call& call, const JsonPath& path, Bytes key, const KeyEvent& event, Place&& place) {
  size_t bytes = 0, depth = 0;
  const std::vector<JsonValue> values = TakeJsonValues(call, bytes, depth);
  ArrayTargets targets(call, key, path);
  CheckJsonDepth(path, targets.document->Document().root(), 1, depth);
  CheckJsonCopies(call, bytes, targets.matches.size());
  for (const JsonValue* match : targets.matches) {
    if (!match->Is(JsonKind::kArray)) continue;
    place(*match);
    if (match->Size() + values.size() > JsonValue::kMaxSize) throw Refusal{refusals::kJsonArrayTooLong};
  }
  ChangeArrays(call, path, targets, event, [&](JsonValue& array) {
    std::vector<JsonValue> copies;
    copies.reserve(values.size());
    for (const JsonValue& value : values) copies.push_back(value.Clone());
    array.Insert(place(array), copies);
  });
}

struct JsonArrAppend {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.ARRAPPEND key path value...",
      .summary = "Appends values to arrays of a JSON document.",
      .since = "8.0.0",
      .complexity = "O(1) for a path with one match, otherwise O(N), N being the size of the document",
      .group = CommandGroup::kModule,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const JsonPath path = TakeJsonPath(call);
    InsertCopies(call, path, key, "json.arrappend", [](const JsonValue& array) { return array.Size(); });
  }
};

struct JsonArrInsert {
  static constexpr CommandSpec spec = {.syntax = "JSON.ARRINSERT key path index:integer value...",
                                       .summary = "Inserts values into arrays of a JSON document.",
                                       .since = "8.0.0",
                                       .complexity = "O(N) for a path with one match, N being the size of the array",
                                       .group = CommandGroup::kModule,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const JsonPath path = TakeJsonPath(call);
    const int64_t index = call.args.NextInteger();
    InsertCopies(call, path, key, "json.arrinsert", [index](const JsonValue& array) {
      const auto size = static_cast<int64_t>(array.Size());
      const int64_t place = index < 0 ? index + size : index;
      if (place < 0 || place > size) throw Refusal{refusals::kJsonIndexOutOfBounds};
      return static_cast<size_t>(place);
    });
  }
};

struct JsonArrPop {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.ARRPOP key [path{path [index:integer]}]",
      .summary = "Removes an element of arrays of a JSON document, and returns it.",
      .since = "8.0.0",
      .complexity = "O(1) for the last element of one array, otherwise O(N), N being the size of the document",
      .group = CommandGroup::kModule,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const JsonPath path = TakeOptionalJsonPath(call);
    const int64_t index = call.args.AtEnd() ? -1 : call.args.NextInteger();
    call.args.ExpectEnd();
    ArrayTargets targets(call, key, path);
    std::vector<std::optional<std::string>> popped(targets.matches.size());
    uint64_t changes = 0;
    for (size_t i = targets.matches.size(); i-- > 0;) {
      JsonValue& array = *targets.matches[i];
      if (!array.Is(JsonKind::kArray) || array.Size() == 0) continue;
      const auto size = static_cast<int64_t>(array.Size());
      const auto place = static_cast<size_t>(std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1));
      popped[i] = JsonText(array.Elements()[place]);
      array.EraseRange(place, 1);
      ++changes;
    }
    if (changes > 0) targets.document.ReportChange("json.arrpop", changes);
    const auto reply = [&](const std::optional<std::string>& text) {
      text ? call.reply.Bulk(*text) : call.reply.Null();
    };
    if (path.IsLegacy()) return reply(popped.back());
    call.reply.Array(popped.size());
    std::ranges::for_each(popped, reply);
  }
};

struct JsonArrTrim {
  static constexpr CommandSpec spec = {
      .syntax = "JSON.ARRTRIM key path start:integer stop:integer",
      .summary = "Removes the elements outside a range of indexes from arrays of a JSON document.",
      .since = "8.0.0",
      .complexity = "O(N) for a path with one match, N being the size of the array",
      .group = CommandGroup::kModule,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const JsonPath path = TakeJsonPath(call);
    const int64_t start = call.args.NextInteger();
    const int64_t stop = call.args.NextInteger();
    ArrayTargets targets(call, key, path);
    ChangeArrays(call, path, targets, "json.arrtrim", [start, stop](JsonValue& array) { Trim(array, start, stop); });
  }

 private:
  static void Trim(JsonValue& array, int64_t start, int64_t stop) {
    const auto size = static_cast<int64_t>(array.Size());
    const int64_t first = std::max<int64_t>(start < 0 ? start + size : start, 0);
    const int64_t last = std::min<int64_t>(stop < 0 ? stop + size : stop, size - 1);
    if (first > last) return array.EraseRange(0, array.Size());
    array.EraseRange(static_cast<size_t>(last + 1), static_cast<size_t>(size - 1 - last));
    array.EraseRange(0, static_cast<size_t>(first));
  }
};

constexpr auto kJsonArrayCommands = Family<JsonArrAppend, JsonArrInsert, JsonArrPop, JsonArrTrim>();

}  // namespace

std::span<const CommandCard> JsonArrayCommands() { return kJsonArrayCommands; }

}  // namespace respite
