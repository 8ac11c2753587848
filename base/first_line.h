// What the system says in /proc and /sys.
#pragma once

#include <optional>
#include <string>

namespace respite {

// The first line of a file without its end; nothing when there is none to read.
std::optional<std::string> FirstLineOf(const char* path);

}  // namespace respite
