// Small text functions for the configuration: lenient integers, sizes with a unit, trimmed lines, absolute paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// Parses an integer as C's strtoll does: skips leading white space, and accepts a sign and leading zeros. Returns
// nullopt if other characters follow. As in Redis, some directives accept such numbers, and an empty text as 0. Numbers
// out of range are clamped.
std::optional<int64_t> ParseLooseInteger(const std::string& text, int base = 10);  // as strtoll; nullopt: no number

std::string FormatMemoryWithUnit(uint64_t bytes);  // "64mb": with the largest unit that leaves no remainder

Bytes TrimLine(Bytes line);  // returns the line without blanks and line ends around it

std::string WorkingDirectory();  // absolute path of the process's current folder; empty if the folder was deleted

std::string AbsolutePath(Bytes path);  // `path`; if relative (also "../a"), joined to the working directory

}  // namespace respite
