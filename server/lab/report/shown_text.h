// Bytes of clients as text that people read in a report: UTF-8 stays as it is, everything else is escaped. The results
// are valid UTF-8 without control characters and without characters that are invisible or change the direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace respite {

// Other bytes are written as \xhh, or \n and similar. Cost: O(text).
std::string PlainText(Bytes text);
// The same, in double quotes if it would not be one word of a line.
std::string PlainWord(Bytes word);

// Columns of a terminal; characters of East Asian scripts take two. Requires: valid UTF-8.
size_t WidthOf(Bytes text);
// Its beginning with "..." behind it, so that it takes `most` columns; the text itself if it fits. Requires: valid
// UTF-8, most >= 3.
std::string Shortened(Bytes text, size_t most);

// A text within an element or an attribute of HTML.
std::string HtmlText(Bytes text);
// A string of JSON with its quotes, which can stand in an element <script>. Requires: valid UTF-8.
std::string JsonText(Bytes text);

}  // namespace respite
