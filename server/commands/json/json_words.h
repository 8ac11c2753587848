// Arguments, errors and loops that the JSON commands share.
//
// Paths that begin with $ select any number of values, and the reply is an array. The reply to a legacy path is about
// one value: the first match if the command reads, the last one that it has changed if the command changes values. It
// is an error if there is none.
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

const JsonValue* ReadJson(Call& call, Bytes key);  // the document of a key; null: no such key; throws WRONGTYPE
Edit<Json> OpenJson(Call& call, Bytes key);        // opens a document to change it, or throws WRONGTYPE
// Throws also if the key does not exist.
Edit<Json> OpenExistingJson(Call& call, Bytes key);

// Returns the matches of a path. Throws if they are too many. The second form counts the work of several paths.
JsonMatches SelectJsonValues(const JsonPath& path, const JsonValue& root);
JsonMatches SelectJsonValues(const JsonPath& path, const JsonValue& root, JsonBudget& budget);
// The matches as values to be changed, each one time, in the order of the document. A command must change them in the
// reverse order: a change of an array or an object may move the values inside it.
std::vector<JsonValue*> SelectJsonTargets(const JsonPath& path, JsonValue& root);
std::vector<JsonValue*> SelectJsonTargets(const JsonPath& path, JsonValue& root, JsonBudget& budget);
// Like SelectJsonTargets, for a command that changes values of one kind. For a legacy path, returns only values for
// which is_good(value) is true, and throws if there is none: "does not exist or not a string".
template <class IsGood>
std::vector<JsonValue*> SelectJsonTargetsOf(const JsonPath& path, JsonValue& root, Bytes kind, IsGood&& is_good);

// Counts the values that a reply is going to contain. Throws if they are too many: a path may select a value many
// times.
void SpendForReply(JsonBudget& budget, const JsonValue& value);

// Counts steps of a command. Throws if they are too many, so that a command never replies with an incomplete result.
void CheckJsonBudget(JsonBudget& budget, uint64_t steps);

// Throws if values with `depth` levels, put at `levels_below` the matches of a path, would be nested too deeply.
void CheckJsonDepth(const JsonPath& path, const JsonValue& root, size_t levels_below, size_t depth);
// Throws if `count` copies of an argument would take too much memory.
void CheckJsonCopies(Call& call, size_t bytes, size_t count);

// Returns the name that JSON.TYPE shows: "object", "integer" …
Bytes JsonTypeName(const JsonValue& value);

namespace refusals {

Refusal JsonPathMissing(Bytes path);                   // no value matches a legacy path
Refusal JsonPathMissingOrNot(Bytes path, Bytes kind);  // a legacy path matches no value of this kind
Refusal WrongJsonType(Bytes expected,
                      const JsonValue* found);  // the value that a legacy path selects is of another type
inline constexpr char kJsonReplyTooLong[] = "ERR the reply would be too long";
inline constexpr char kJsonIndexOutOfBounds[] = "ERR index out of bounds";
inline constexpr char kNoJsonKey[] = "ERR could not perform this operation on a key that doesn't exist";

}  // namespace refusals

template <class IsGood>
std::vector<JsonValue*> SelectJsonTargetsOf(const JsonPath& path, JsonValue& root, Bytes kind, IsGood&& is_good) {
  std::vector<JsonValue*> targets = SelectJsonTargets(path, root);
  if (!path.IsLegacy()) return targets;
  std::erase_if(targets, [&](const JsonValue* value) { return !is_good(*value); });
  if (targets.empty()) throw refusals::JsonPathMissingOrNot(path.Text(), kind);
  return targets;
}

}  // namespace respite
