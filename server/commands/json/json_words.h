// Arguments, errors and loops that the JSON commands share.
//
// A path that begins with $ selects any number of values, and the reply is an array. Any other path is a legacy path:
// the reply is about one value. This is the first match if the command only reads. If the command changes values, it is
// the last match that has the right type. If there is none, the reply is an error, null or 0, depending on the command.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datatypes/json/json_document.h"
#include "datatypes/json/json_path.h"
#include "datatypes/json/json_value.h"
#include "server/execution/call.h"

namespace respite {

// The functions from here to ParseJsonPath take or parse one argument. As in Redis, a command takes all its arguments,
// then opens the key, and only then parses the path. So an error in the path is not reported if the key does not exist.
Bytes TakeJsonText(Call& call);                        // takes the next argument; throws if it is not UTF-8
int64_t TakeJsonInteger(Call& call);                   // takes the next argument as an integer, or throws
Bytes TakeOptionalJsonPath(Call& call);                // takes the text of a path if there is one; the default is "."
JsonPath ParseJsonPath(const Call& call, Bytes text);  // parses a path, or throws
// Whether the error for a malformed JSON value begins with "ERR". As in Redis, this depends on the command.
enum class JsonErrorPrefix : uint8_t { kErr, kNone };
JsonValue ParseJsonArgument(Bytes text, JsonErrorPrefix prefix);  // parses a JSON value, or throws

const JsonValue* ReadJson(Call& call, Bytes key);  // the document of a key; null: no such key; throws for another type
const JsonValue* PeekJson(Call& call, Bytes key);  // like ReadJson, but counts neither a hit nor a miss
Edit<Json> OpenJson(Call& call, Bytes key);        // opens a document to change it; throws for another type
Edit<Json> OpenExistingJson(Call& call, Bytes key);  // opens a document; throws for an absent key or another type

// The following functions throw a Refusal if `path` is an expression that computes values, or if the search
// needs more steps than its JsonBudget has. Without `budget`, each call has a new JsonBudget. Several calls can share
// `budget`. SelectJsonToChange unpacks arrays of packed numbers in which it selects elements, so no match is a copy.
JsonMatches SelectJsonValues(const JsonPath& path, const JsonValue& root);                      // the matches of a path
JsonMatches SelectJsonValues(const JsonPath& path, const JsonValue& root, JsonBudget& budget);  // the matches
JsonMatches SelectJsonToChange(const JsonPath& path, JsonValue& root);                          // the matches of a path
JsonMatches SelectJsonToChange(const JsonPath& path, JsonValue& root, JsonBudget& budget);      // the matches of a path
// The values that a command changes: the matches of a path, in the order of the document. Paths such as $[0,0] select a
// value several times. As in Redis, a command then changes it several times.
struct JsonTargets {               // the values that a command changes
  std::vector<JsonValue*> values;  // the matches of the path, in the order of the document
  bool may_repeat = false;         // true: a value may occur several times in `values`

  // Calls change(value, index) for each index of `values`. A change of an array or object may move the values inside
  // it, so an array or object is visited after the values inside it. If a value occurs several times in `values`, its
  // indexes are visited one after another, in ascending order.
  template <class Change>
  void ForEach(Change&& change) const;        // calls change(value, index) for each index, inner values first
  std::vector<JsonValue*> Distinct() const;   // each value once, an array or object before the values inside it
  std::vector<uint32_t> FirstPlaces() const;  // for each index of `values`, the first index with the same pointer
};
JsonTargets SelectJsonTargets(const JsonPath& path, JsonValue& root);                      // the values to be changed
JsonTargets SelectJsonTargets(const JsonPath& path, JsonValue& root, JsonBudget& budget);  // the values to be changed
// Returns the matches of a path, for a command that changes values of one kind:
//   legacy path    only the matches for which is_good(value) is true; throws the error `refusal` if there is none
//   path with `$`  all matches, of any kind and perhaps none
template <class IsGood>
JsonTargets SelectJsonTargetsOf(const JsonPath& path, JsonValue& root, const char* refusal,  // targets of one kind
                                IsGood&& is_good);

// Counts `value` and all values inside it. Throws a Refusal if these are more than the budget has left. The limit is
// needed because a path may select one value many times.
void SpendForReply(JsonBudget& budget, const JsonValue& value);  // counts the values of a reply, or throws

// Throws a Refusal if the budget is used up, so that a command never replies with an incomplete result.
void SpendJsonSteps(JsonBudget& budget, uint64_t steps);  // counts steps; throws if none is left

// Throws a Refusal if a new value could make the document deeper than JsonValue::kMaxDepth levels. The new value has
// `depth` levels, and is `levels_below` levels below a match of the path. The depth of a match is the number of steps
// of the path, or with `..` the depth of the whole document.
void CheckJsonDepth(const JsonPath& path, const JsonValue& root,  // throws if values could be nested too deeply
                    size_t levels_below, size_t depth);
// A command is about to insert copies of `values` at each of `count` places that match its path. Spends the steps of
// making the copies, or throws a Refusal if `budget` has fewer. Spends nothing if `count` is 1.
void SpendForCopies(JsonBudget& budget, std::span<const JsonValue> values, size_t count);  // counts copies, or throws

Bytes JsonTypeName(const JsonValue& value);  // the name that JSON.TYPE shows: "object", "integer" …

namespace refusals {

inline constexpr char kNotUtf8[] = "Couldn't parse as UTF-8 string";
inline constexpr char kNoJsonPath[] = "ERR Path does not exist";
inline constexpr char kNoJsonArray[] = "ERR Path does not exist or not an array";
inline constexpr char kNoJsonObject[] = "ERR Path does not exist or not an object";
inline constexpr char kWrongJsonArray[] = "WRONGTYPE wrong type of path value - expected array";
inline constexpr char kWrongJsonObject[] = "WRONGTYPE wrong type of path value - expected object";
inline constexpr char kWrongJsonString[] = "WRONGTYPE wrong type of path value - expected string";
inline constexpr char kJsonReplyTooLong[] = "ERR the reply would be too long";
inline constexpr char kJsonIndexOutOfBounds[] = "ERR index out of bounds";
inline constexpr char kNoJsonKey[] = "ERR could not perform this operation on a key that doesn't exist";

}  // namespace refusals

template <class Change>
void JsonTargets::ForEach(Change&& change) const {  // calls change(value, index) for each index, inner values first
  if (!may_repeat) {
    for (size_t i = values.size(); i-- > 0;) change(*values[i], i);
    return;
  }
  // Sorts the indexes by first[i], in descending order: counts the indexes with each first[i], then gives each its
  // place.
  const std::vector<uint32_t> first = FirstPlaces();
  std::vector<uint32_t> ends(first.size()), order(first.size());
  for (const uint32_t place : first) ++ends[place];
  uint32_t end = 0;
  for (size_t place = ends.size(); place-- > 0;) ends[place] = end += ends[place];
  for (size_t i = first.size(); i-- > 0;) order[--ends[first[i]]] = static_cast<uint32_t>(i);
  for (const uint32_t i : order) change(*values[i], size_t{i});
}

template <class IsGood>
JsonTargets SelectJsonTargetsOf(const JsonPath& path, JsonValue& root, const char* refusal,  // targets of one kind
                                IsGood&& is_good) {
  JsonTargets targets = SelectJsonTargets(path, root);
  if (!path.IsLegacy()) return targets;
  std::erase_if(targets.values, [&](const JsonValue* value) { return !is_good(*value); });
  if (targets.values.empty()) throw Refusal{refusal};
  return targets;
}

}  // namespace respite
