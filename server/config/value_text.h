// Conversions of directive values and paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// Parses an integer like C's strtoll: skips leading white space, and accepts a sign and leading zeros. As in Redis,
// some directives use it, and read an empty text as 0. Numbers out of range are clamped.
std::optional<int64_t> ParseLooseInteger(const std::string& text, int base = 10);  // as strtoll; nullopt: no number

std::string FormatMemoryWithUnit(uint64_t bytes);  // in the largest unit without a remainder: "64mb"

Bytes TrimLine(Bytes line);  // removes blanks at both ends

std::string WorkingDirectory();  // of the process; empty if it was deleted

std::string AbsolutePath(Bytes path);  // resolves a relative path, also leading "../", without asking the system

}  // namespace respite
