// Reads values from /proc and /sys.
#pragma once

#include <optional>
#include <string>

namespace respite {

// Returns the first line of a file (at most 1 KB) without its line end, or nullopt if the file cannot be read.
std::optional<std::string> FirstLineOf(const char* path);

}  // namespace respite
