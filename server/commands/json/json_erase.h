// Removes the values that a path has selected from a JSON document.
#pragma once

#include <cstddef>

#include "datatypes/json/json_path.h"
#include "datatypes/json/json_value.h"

namespace respite {

size_t PlaceInJson(const JsonValue& parent, const JsonValue& value);  // index of an element or a member in its parent

// Removes all matches. Returns their number; a match inside another match does not count. As in Redis:
// - Members are removed in the order of their names, and the last member takes the place of a removed one.
// - Elements are removed from the last to the first. If an index was selected n times, n elements from there on are
//   removed.
//
// Cost: O(values of the document * log(matches)). A single match that is a member of an object with n members: O(log
// n).
size_t EraseJsonMatches(JsonValue& root, const JsonMatches& matches);  // removes all matches

}  // namespace respite
