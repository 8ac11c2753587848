// Converts bytes that clients have sent to readable text for reports. Keeps visible UTF-8 characters and escapes all
// other bytes. So the results are valid UTF-8, and contain no control characters, no invisible characters, and none
// that change the writing direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace respite {

std::string PlainText(Bytes text);  // keeps visible UTF-8, and writes other bytes as \xhh, \n and similar
std::string PlainWord(Bytes word);  // like PlainText; in double quotes if empty, or with blanks, quotes, \ or escapes

size_t WidthOf(Bytes text);  // number of terminal columns; East Asian characters take two. Requires: valid UTF-8
std::string Shortened(Bytes text, size_t most);  // cuts a text to `most` columns. Requires: UTF-8, most >= 3

std::string HtmlText(Bytes text);  // the text, escaped for an HTML element or attribute
std::string JsonText(Bytes text);  // a quoted JSON string that is safe inside <script>. Requires: valid UTF-8

}  // namespace respite
