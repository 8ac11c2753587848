// The text of INFO.
#pragma once

#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

struct Services;

// Returns the sections that `names` select, each once, in Redis' order. A name is the name of a section, or `default`,
// `all` or `everything`, in upper or lower case. If there are no names, returns the sections of `default`. Unknown
// names select nothing. Some sections exist only if a version that has them is emulated.
std::string InfoReport(const Services& services, std::span<const Bytes> names);  // text of INFO with these sections

}  // namespace respite
