// The text of INFO.
#pragma once

#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

class Server;

// The sections that `names` ask for, in Redis' order, each once. Names (in any case) are those of sections, `default`
// (also when there are no names), `all` and `everything`; unknown ones ask for nothing.
std::string InfoReport(Server& server, std::span<const Bytes> names);

}  // namespace respite
