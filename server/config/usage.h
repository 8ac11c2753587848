// What the program says about itself without starting: --version and --help.
#pragma once

#include <string>
#include <string_view>

#include "protocol/redis_version.h"

namespace respite {

constexpr std::string_view kRespiteVersion = "0.1.0";

// The line of --version, without a newline. Harnesses take its third word, its first number, or the text behind "v=".
std::string VersionLine();

// The text of --help for a program of this name; printed to stderr, with exit code 1.
std::string UsageText(std::string_view program);

// A number that differs between builds of different sources, as 16 hexadecimal digits.
std::string BuildId();

}  // namespace respite
