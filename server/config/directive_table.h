// The table of all directives.
//
// Its rows are in directives_*.cc, one file per subject, sorted roughly by name. To add a directive, add a member with
// its default to Settings, and a row. The row determines parsing, ranges, CONFIG GET, SET and REWRITE, and checks in
// tests. The default of a directive is the value of its member in a new Settings.
#pragma once

#include <span>

#include "base/bytes.h"
#include "server/config/directive.h"

namespace respite {

// Returns the rows of all directives, with one span for each subject, such as TLS. Cost: no allocation.
std::span<const std::span<const Directive>> DirectivesBySubject();  // one span per subject, such as TLS

// Finds the row of a directive by its name or alias. Cost: O(directives), some microseconds.
const Directive* FindDirective(Bytes name);  // by name or alias in any case; null: unknown

}  // namespace respite
