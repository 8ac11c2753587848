// Reads fields of a JSON object, for filters of vector sets. The reader is lenient: it reads only up to the wanted
// field, and accepts what the object contains after it. It never recurses.
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

struct AttributeValue {  // a value in a JSON text, as a view of the text
  enum class Kind : uint8_t { kNull, kNumber, kText, kArray };

  Kind kind = Kind::kNull;
  double number = 0;  // for kNumber; true is 1, and false is 0
  Bytes text;         // kText: the bytes between the quotes, with escapes; kArray: the bytes between the brackets
};

// Returns a field of the object `json`. Returns nullopt if the object has no such field, if the value is an object or
// an array with objects, or if the text is malformed up to the end of the value. Does not check the numbers of other
// fields, or what is inside their objects and arrays and inside nested arrays. The first of several fields counts.
// Names with escapes are not found. Cost: O(json).
std::optional<AttributeValue> FindJsonField(Bytes json, Bytes name);  // a field of the object `json`; nullopt: none

// Takes the next element from `rest`, the text of an array. Returns a nested array without its text. Returns nullopt at
// the end. Requires: FindJsonField has returned the array.
std::optional<AttributeValue> NextJsonElement(Bytes& rest);  // takes an element from `rest`; nullopt: the end

// Returns the text of a kText value without escapes. Uses `buffer` if there are escapes. An escape that JSON does not
// have stands for the character after the backslash.
Bytes TextOfAttribute(const AttributeValue& value, std::string& buffer);  // the text of a kText value, unescaped

}  // namespace respite
