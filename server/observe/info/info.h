// The text of INFO.
#pragma once

#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

struct Services;

// Returns the sections that `names` select, in Redis' order, each once. Names (in any case) are those of sections,
// `default` (also when there are no names), `all` and `everything`; unknown names select nothing.
std::string InfoReport(const Services& services, std::span<const Bytes> names);  // the whole text

}  // namespace respite
