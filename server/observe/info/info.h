// The text of INFO.
#pragma once

#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

struct Services;

// Returns the sections that `names` select, each once, in Redis' order. A name, in any case, is that of a section,
// `default`, `all` or `everything`. No names select the same as `default`, and unknown names select nothing.
std::string InfoReport(const Services& services, std::span<const Bytes> names);  // text of INFO for these section names

}  // namespace respite
