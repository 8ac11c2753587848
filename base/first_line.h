// Reads values from /proc and /sys.
#pragma once

#include <optional>
#include <string>

namespace respite {

// The first line of a file without its line end; nullopt if it cannot be read.
std::optional<std::string> FirstLineOf(const char* path);

}  // namespace respite
