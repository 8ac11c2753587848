// The table of all directives.
//
// Its rows are in directives_*.cc, one file per subject, sorted by name. To add a directive, add a member with its
// default to Settings, and a row. Parsing, ranges, GET, SET, REWRITE and table checks in tests are derived from the
// row. The default of a directive is the value of its member in a new Settings.
#pragma once

#include <span>

#include "base/bytes.h"
#include "server/config/directive.h"

namespace respite {

// Returns all directives, by subject. Cost: no allocation.
std::span<const std::span<const Directive>> DirectivesBySubject();

// Finds a directive by name or alias, ignoring case; returns null if there is none. Cost: O(directives), some
// microseconds.
const Directive* FindDirective(Bytes name);

}  // namespace respite
