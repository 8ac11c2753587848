// The texts of --version and --help.
#pragma once

#include <string>
#include <string_view>

#include "protocol/redis_version.h"

namespace respite {

constexpr std::string_view kRespiteVersion = "0.1.0";

// Returns the line that --version prints. Programs that launch the server parse this line: they read its third word,
// its first number, the text after "v=" or "server v=", or all words that contain '='.
std::string VersionLine();  // the line that --version prints, without its newline

// Returns the text of --help for a program of this name. The caller prints it to stderr and exits with code 1.
std::string UsageText(std::string_view program);  // the text that --help prints

std::string BuildId();  // 16 hexadecimal digits; depends on the version and the compiler

}  // namespace respite
