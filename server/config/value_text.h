// Conversions of directive values and paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// Parses an integer like C's strtoll: skips leading white space, a sign and leading zeros. Redis: some directives are
// this lax and read an empty text as 0. Out-of-range numbers are clamped.
std::optional<int64_t> LooseInteger(const std::string& text, int base = 10);

// Returns a number of bytes in the largest unit (gb, mb, kb) that divides it, as CONFIG REWRITE writes it.
std::string UnitMemoryText(uint64_t bytes);

// Removes blanks around a line of a configuration file.
Bytes TrimLine(Bytes line);

// Returns the working directory of the process, or an empty text if it was deleted.
std::string WorkingDirectory();

// Returns the absolute path; resolves leading "../" textually against the working directory.
std::string AbsolutePath(Bytes path);

}  // namespace respite
