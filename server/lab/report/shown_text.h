// Converts bytes of clients to readable text for reports. Valid UTF-8 is kept and all else is escaped. The results are
// valid UTF-8 without control characters, invisible characters and characters that change the direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace respite {

// Writes other bytes as \xhh, or as \n and similar. Cost: O(text).
std::string PlainText(Bytes text);
// Converts like PlainText, and adds double quotes if the result would not be one word of a line.
std::string PlainWord(Bytes word);

// Returns the width in terminal columns; characters of East Asian scripts take two. Requires: valid UTF-8.
size_t WidthOf(Bytes text);
// Returns the text if it fits into `most` columns, else its beginning and "...". Requires: valid UTF-8, most >= 3.
std::string Shortened(Bytes text, size_t most);

// Escapes a text for an HTML element or attribute.
std::string HtmlText(Bytes text);
// Returns a quoted JSON string that is safe inside an element <script>. Requires: valid UTF-8.
std::string JsonText(Bytes text);

}  // namespace respite
