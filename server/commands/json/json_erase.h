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
// Cost: O(values*log(matches)); for a single match that is a member O(log n), n being the number of members.
size_t EraseJsonMatches(JsonValue& root, const JsonMatches& matches);  // removes all matches

}  // namespace respite
