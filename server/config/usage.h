// The texts of --version and --help.
#pragma once

#include <string>
#include <string_view>

#include "protocol/redis_version.h"

namespace respite {

constexpr std::string_view kRespiteVersion = "0.1.0";

// The line of --version, without a newline. Launchers parse its third word, its first number, the text after "v=" or
// "server v=", or all words with a '='.
std::string VersionLine();

// The text of --help for a program of this name. It is printed to stderr, with exit code 1.
std::string UsageText(std::string_view program);

// Identifies the sources of a build, as 16 hexadecimal digits.
std::string BuildId();

}  // namespace respite
