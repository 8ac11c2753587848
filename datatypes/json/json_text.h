// Writes JSON values as text, and reads numbers.
//
//   1, -7, 18446744073709551615        integers
//   1.0, 0.1, 1e30, 1.5e-7             doubles: the fewest digits that read back as the same number
//   "a\"b\\c\n\u0001é"                 texts: only quotes, backslashes and control characters are escaped
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "datatypes/json/json_value.h"

namespace respite {

struct JsonFormat {    // the texts between the parts of a document; all empty: the shortest form
  Bytes indent = {};   // before each element, once for each level
  Bytes newline = {};  // before each element, and before the closing bracket
  Bytes space = {};    // after each colon
  // If the text gets longer than this, it is incomplete, and the caller must ignore it.
  size_t max_bytes = SIZE_MAX;  // AppendJson stops soon after this many bytes
};

// Cost: O(values and bytes).
void AppendJson(std::string& out, const JsonValue& value, const JsonFormat& format = {},  // appends a value as JSON
                size_t level = 0);  // `level`: how deeply the value is nested, for the indent
// Cost: O(values).
uint64_t JsonLayoutBytes(const JsonValue& value,  // bytes of newlines, indents and spaces that AppendJson writes
                         const JsonFormat& format, size_t level);
std::string JsonText(const JsonValue& value);            // returns a value as JSON, in the shortest form
void AppendJsonString(std::string& out, Bytes text);     // appends a text in quotes, with escapes
void AppendJsonNumber(std::string& out, double number);  // appends a double
// Overlong forms, surrogates and code points above U+10FFFF are not valid. Cost: O(n).
size_t ValidUtf8Bytes(Bytes text);  // bytes at the beginning that are valid UTF-8; text.size(): all
// Returns the number that a JSON text stands for: an integer if the text has no fraction and no exponent and 64 bits
// suffice, otherwise a double. Returns null if the number is too large for a double. Requires: `text` has the
// form of a number in JSON.
JsonValue ParseJsonNumber(Bytes text);  // the number that this JSON number means; kNull: too large

}  // namespace respite
