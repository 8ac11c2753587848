// The text of INFO.
#pragma once

#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

struct Services;

// The sections that `names` ask for, in Redis' order, each once. Names (in any case) are those of sections, `default`
// (also when there are no names), `all` and `everything`; unknown ones ask for nothing.
std::string InfoReport(const Services& services, std::span<const Bytes> names);

}  // namespace respite
