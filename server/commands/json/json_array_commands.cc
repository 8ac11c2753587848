// Commands that change arrays in JSON documents.
#include <algorithm>
#include <functional>
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

// Which array the reply describes if a legacy path selects several. kLast: the last one in the document. kLastSorted:
// the last one in the order in which Redis sorts paths (LastSortedTarget).
enum class LegacyReply : uint8_t { kLast, kLastSorted };

// Returns the target that comes last in Redis' order of paths, of `value` and the values inside it; null if none of
// them is a target. In this order, elements go from the last to the first, members by name, and a value follows the
// values inside it. `targets` must be sorted. Cost: O(values*log(targets)).
const JsonValue* LastSortedTarget(const JsonValue& value, std::span<const JsonValue* const> targets) {
  if (std::ranges::binary_search(targets, &value, std::less<>())) return &value;
  const JsonValue* found = nullptr;
  if (value.IsPacked()) return nullptr;
  if (value.Is(JsonKind::kArray)) {
    for (const JsonValue& element : value.Elements()) {
      if ((found = LastSortedTarget(element, targets)) != nullptr) break;
    }
  } else if (value.Is(JsonKind::kObject)) {
    const std::vector<uint32_t> numbers = value.MembersByName();
    for (size_t i = numbers.size(); found == nullptr && i-- > 0;) {
      found = LastSortedTarget(value.Members()[numbers[i]].value, targets);
    }
  }
  return found;
}

// A change of an array moves the elements after the changed place. This many elements are moved in one step of a
// JsonBudget.
constexpr uint64_t kMovesPerStep = 64;

// The arrays that a command changes. `matches` may also have values that are no arrays; the reply shows null for them.
struct ArrayTargets {
  Edit<Json> document;
  JsonPath path;
  JsonTargets matches;

  ArrayTargets(Call& call, Bytes key, Bytes path_text)
      : document(OpenExistingJson(call, key)),
        path(ParseJsonPath(call, path_text)),
        matches(SelectJsonTargetsOf(path, document->Document().root(), refusals::kNoJsonArray,
                                    [](const JsonValue& value) { return value.Is(JsonKind::kArray); })) {}

  // Spends the steps of adding `added` elements to each match, or if `added` is 0, of removing elements from each.
  // Throws a Refusal if `budget` has fewer, or if an array would be too long. A path such as $[0,0] selects an array
  // many times, and each time its elements are moved.
  void SpendForChanges(JsonBudget& budget, size_t added) const {
    std::vector<size_t> times(matches.values.size(), 1);
    if (matches.may_repeat) {
      times.assign(times.size(), 0);
      for (const uint32_t first : matches.FirstPlaces()) ++times[first];
    }
    for (size_t i = 0; i < times.size(); ++i) {
      if (times[i] == 0 || !matches.values[i]->Is(JsonKind::kArray)) continue;
      const size_t size = matches.values[i]->Size() + added * times[i];
      if (size > JsonValue::kMaxSize) throw Refusal{refusals::kJsonArrayTooLong};
      if (times[i] > 1) SpendJsonSteps(budget, times[i] * (size / kMovesPerStep));
    }
  }

  // The reply to a legacy path describes only one of the matches. Returns the index of this match; `legacy` says which
  // one it is. Must be called before a change, because a change may move the values to which `matches` points.
  size_t LegacyIndex(LegacyReply legacy) const {
    const std::vector<JsonValue*>& values = matches.values;
    if (!path.IsLegacy() || legacy == LegacyReply::kLast || values.size() == 1) return values.size() - 1;
    std::vector<const JsonValue*> sorted(values.begin(), values.end());
    std::ranges::sort(sorted, std::less<>());
    const JsonValue* last = LastSortedTarget(document->Document().root(), sorted);
    return static_cast<size_t>(std::ranges::find(values.rbegin(), values.rend(), last).base() - values.begin() - 1);
  }
};

// Calls change(array) for each array, and replies with the new lengths; null: a match that is no array. For a legacy
// path, replies with the new length of only one array (LegacyIndex).
template <class Change>
void ChangeArrays(Call& call, ArrayTargets& targets, const KeyEvent& event, LegacyReply legacy, Change&& change) {
  const size_t legacy_index = targets.LegacyIndex(legacy);
  std::vector<std::optional<size_t>> lengths(targets.matches.values.size());
  uint64_t changes = 0;
  targets.matches.ForEach([&](JsonValue& match, size_t i) {
    if (!match.Is(JsonKind::kArray)) return;
    change(match);
    lengths[i] = match.Size();
    ++changes;
  });
  if (changes > 0) targets.document.ReportChange(event, changes);
  if (targets.path.IsLegacy()) return call.reply.Integer(static_cast<int64_t>(*lengths[legacy_index]));
  call.reply.Array(lengths.size());
  for (const std::optional<size_t>& length : lengths) {
    length ? call.reply.Integer(static_cast<int64_t>(*length)) : call.reply.Null();
  }
}

std::vector<JsonValue> TakeJsonValues(Call& call) {
  std::vector<JsonValue> values;
  while (!call.args.AtEnd()) values.push_back(ParseJsonArgument(TakeJsonText(call), JsonErrorPrefix::kNone));
  return values;
}

// JSON.ARRAPPEND and JSON.ARRINSERT: inserts copies of the remaining arguments into each array that the path selects,
// at the index that place(array) returns.
template <class Place>
void InsertCopies(Call& call, Bytes key, Bytes path_text, const KeyEvent& event, LegacyReply legacy, Place&& place) {
  const std::vector<JsonValue> values = TakeJsonValues(call);
  size_t depth = 0;
  for (const JsonValue& value : values) depth = std::max(depth, value.Depth());
  ArrayTargets targets(call, key, path_text);
  CheckJsonDepth(targets.path, targets.document->Document().root(), 1, depth);
  JsonBudget budget;
  SpendForCopies(budget, values, targets.matches.values.size());
  targets.SpendForChanges(budget, values.size());
  for (const JsonValue* match : targets.matches.values) {
    if (match->Is(JsonKind::kArray)) place(*match);  // throws if the place does not exist
  }
  ChangeArrays(call, targets, event, legacy, [&](JsonValue& array) {
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
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)},
      .arity = -3};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const Bytes path = TakeJsonText(call);
    if (call.args.AtEnd()) throw refusals::WrongArity(call.command.full_name);
    InsertCopies(call, key, path, "json.arrappend", LegacyReply::kLast,
                 [](const JsonValue& array) { return array.Size(); });
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
    const Bytes path = TakeJsonText(call);
    const int64_t index = TakeJsonInteger(call);
    InsertCopies(call, key, path, "json.arrinsert", LegacyReply::kLastSorted, [index](const JsonValue& array) {
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
    const Bytes path = TakeOptionalJsonPath(call);
    // As in Redis, an index of JSON.ARRPOP that is no integer means the last element, and further arguments are
    // ignored.
    const int64_t index = call.args.AtEnd() ? -1 : ParseInteger(call.args.Next()).value_or(-1);
    ArrayTargets targets(call, key, path);
    JsonBudget budget;
    targets.SpendForChanges(budget, 0);
    const size_t legacy_index = targets.LegacyIndex(LegacyReply::kLastSorted);
    std::vector<std::optional<std::string>> popped(targets.matches.values.size());
    uint64_t changes = 0;
    targets.matches.ForEach([&](JsonValue& array, size_t i) {
      if (!array.Is(JsonKind::kArray)) return;
      if (array.Size() == 0) return;
      ++changes;
      const auto size = static_cast<int64_t>(array.Size());
      const auto place = static_cast<size_t>(std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1));
      popped[i] = JsonText(*array.Elements()[place]);
      array.EraseRange(place, 1);
    });
    if (changes > 0) targets.document.ReportChange("json.arrpop", changes);
    const auto reply = [&](const std::optional<std::string>& text) {
      text ? call.reply.Bulk(*text) : call.reply.Null();
    };
    if (targets.path.IsLegacy()) return reply(popped[legacy_index]);
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
    const Bytes path = TakeJsonText(call);
    const int64_t start = TakeJsonInteger(call);
    const int64_t stop = TakeJsonInteger(call);
    ArrayTargets targets(call, key, path);
    JsonBudget budget;
    targets.SpendForChanges(budget, 0);
    ChangeArrays(call, targets, "json.arrtrim", LegacyReply::kLastSorted,
                 [start, stop](JsonValue& array) { Trim(array, start, stop); });
  }

 private:
  static void Trim(JsonValue& array, int64_t start, int64_t stop) {
    const auto size = static_cast<int64_t>(array.Size());
    const int64_t first = std::max<int64_t>(start < 0 ? start + size : start, 0);
    // As in Redis, a negative `stop` of JSON.ARRTRIM that is before the beginning of the array means the first element.
    const int64_t last = std::min<int64_t>(stop < 0 ? std::max<int64_t>(stop + size, 0) : stop, size - 1);
    if (first > last) return array.EraseRange(0, array.Size());
    array.EraseRange(static_cast<size_t>(last + 1), static_cast<size_t>(size - 1 - last));
    array.EraseRange(0, static_cast<size_t>(first));
  }
};

constexpr auto kJsonArrayCommands = Family<JsonArrAppend, JsonArrInsert, JsonArrPop, JsonArrTrim>();

}  // namespace

std::span<const CommandCard> JsonArrayCommands() { return kJsonArrayCommands; }

}  // namespace respite
