// Texts of values that several directives share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

// An integer as C's strtoll reads it in the given base: leading white space, a sign and leading zeros pass.
// Redis: some directives are this lax; an empty text is 0 to them. Out-of-range numbers are clamped.
std::optional<int64_t> LooseInteger(const std::string& text, int base = 10);

// Bytes in the largest unit (gb, mb, kb) that divides them, as CONFIG REWRITE writes them.
std::string UnitMemoryText(uint64_t bytes);

// A line of a configuration file without the blanks around it.
Bytes TrimLine(Bytes line);

// The process' working directory; empty when it has none any more.
std::string WorkingDirectory();

// `path` from the root, "../" in front resolved textually against the working directory.
std::string AbsolutePath(Bytes path);

}  // namespace respite
