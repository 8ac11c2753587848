// Arguments, errors and loops that the JSON commands share.
//
// A path that begins with $ selects any number of values, and the reply is an array. Any other path is a legacy path:
// the reply is about one value. This is the first match if the command only reads. If the command changes values, it is
// the last match that has the right type. If there is none, the reply is an error, null or 0, depending on the command.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "datatypes/json/json_document.h"
#include "datatypes/json/json_path.h"
#include "datatypes/json/json_value.h"
#include "server/execution/call.h"

namespace respite {

JsonPath ParseJsonPath(Bytes text);         // parses a path, or throws
JsonPath TakeJsonPath(Call& call);          // takes the next argument as a path, or throws
JsonPath TakeOptionalJsonPath(Call& call);  // takes a path if there is one more argument; the default is "."
JsonValue ParseJsonArgument(Bytes text);    // parses a JSON value, or throws
JsonPath LegacyJsonRoot();                  // the path "."

const JsonValue* ReadJson(Call& call, Bytes key);  // the document of a key; null: no such key; throws for another type
Edit<Json> OpenJson(Call& call, Bytes key);        // opens a document to change it; throws for another type
Edit<Json> OpenExistingJson(Call& call, Bytes key);  // opens a document; throws for an absent key or another type

// Throws a Refusal if the matches are too many. With `budget`, counts the work of several paths together.
JsonMatches SelectJsonValues(const JsonPath& path, const JsonValue& root);                      // the matches of a path
JsonMatches SelectJsonValues(const JsonPath& path, const JsonValue& root, JsonBudget& budget);  // the matches
// Returns the matches as values to be changed, each value once, in the order of the document. A command must change the
// last one first, because a change of an array or object may move the values inside it.
std::vector<JsonValue*> SelectJsonTargets(const JsonPath& path, JsonValue& root);  // the matches, to be changed
std::vector<JsonValue*> SelectJsonTargets(const JsonPath& path, JsonValue& root,   // the matches, to be changed
                                          JsonBudget& budget);
// Returns the targets for a command that changes values of one kind. For a legacy path, returns only values for which
// is_good(value) is true. If there is none, throws a Refusal: "does not exist or not a string" (`kind`: "a string").
template <class IsGood>
std::vector<JsonValue*> SelectJsonTargetsOf(const JsonPath& path, JsonValue& root,  // the matches of one kind
                                            Bytes kind, IsGood&& is_good);

// Counts the values inside `value`. Throws a Refusal if the budget is used up, because a path may select one value many
// times.
void SpendForReply(JsonBudget& budget, const JsonValue& value);  // counts the values of a reply; throws if too many

// Throws a Refusal if the budget is used up, so that a command never replies with an incomplete result.
void CheckJsonBudget(JsonBudget& budget, uint64_t steps);  // counts steps; throws if too many

// Throws a Refusal if values with `depth` levels, put `levels_below` levels below the matches of a path, would be
// nested too deeply.
void CheckJsonDepth(const JsonPath& path, const JsonValue& root,  // throws if values would be nested too deeply
                    size_t levels_below, size_t depth);
void CheckJsonCopies(Call& call, size_t bytes, size_t count);  // throws if the copies take too much memory

Bytes JsonTypeName(const JsonValue& value);  // the name that JSON.TYPE shows: "object", "integer" …

namespace refusals {

Refusal JsonPathMissing(Bytes path);                   // error: no value matches a legacy path
Refusal JsonPathMissingOrNot(Bytes path, Bytes kind);  // error: a legacy path has no match of this kind
Refusal WrongJsonType(Bytes expected,                  // error: the value that a legacy path selects has another type
                      const JsonValue* found);
inline constexpr char kJsonReplyTooLong[] = "ERR the reply would be too long";
inline constexpr char kJsonIndexOutOfBounds[] = "ERR index out of bounds";
inline constexpr char kNoJsonKey[] = "ERR could not perform this operation on a key that doesn't exist";

}  // namespace refusals

template <class IsGood>
std::vector<JsonValue*> SelectJsonTargetsOf(const JsonPath& path, JsonValue& root,  // the matches of one kind
                                            Bytes kind, IsGood&& is_good) {
  std::vector<JsonValue*> targets = SelectJsonTargets(path, root);
  if (!path.IsLegacy()) return targets;
  std::erase_if(targets, [&](const JsonValue* value) { return !is_good(*value); });
  if (targets.empty()) throw refusals::JsonPathMissingOrNot(path.Text(), kind);
  return targets;
}

}  // namespace respite
