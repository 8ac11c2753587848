// Reads fields of a JSON object, for filters of vector sets. The reader is lenient: it checks only the fields that are
// wanted, and nothing after them. It never recurses.
#pragma once

#include <cstddef>
#include <cstdint>
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

// Reads the fields of a JSON object one after another. Fails if the text is malformed up to the end of the value that
// is read. Does not check the values of other fields, or what is inside nested arrays. Names are the bytes between the
// quotes, so a name with escapes equals no name without them.
//
//   JsonFieldReader reader(json);
//   while (const auto name = reader.Next()) {
//     if (*name == "year") year = reader.TakeValue();     optional: Next skips a value that was not taken
//   }
class JsonFieldReader {  // reads the fields of a JSON object one after another
 public:
  explicit JsonFieldReader(Bytes json) : rest_(json) {}

  std::optional<Bytes> Next();  // the name of the next field; nullopt: there is none, or the text is malformed
  // Returns nullopt if the value is an object, an array with objects, or malformed. Requires: Next has returned a name,
  // and TakeValue was not called for it.
  std::optional<AttributeValue> TakeValue();    // the value of the field whose name Next has returned
  size_t Left() const { return rest_.size(); }  // bytes that were not read yet

 private:
  enum class Place : uint8_t { kObject, kValue, kComma };  // what comes next in the text

  Bytes rest_;                    // the text that was not read yet
  Place place_ = Place::kObject;  // what comes next in `rest_`
};

// Takes the next element from `rest`, the text of an array. Returns a nested array without its text. Returns nullopt at
// the end. Requires: JsonFieldReader has returned the array.
std::optional<AttributeValue> NextJsonElement(Bytes& rest);  // takes an element from `rest`; nullopt: the end

// Returns the text of a kText value without escapes. Uses `buffer` if there are escapes. An escape that JSON does not
// have stands for the character after the backslash.
Bytes TextOfAttribute(const AttributeValue& value, std::string& buffer);  // the text of a kText value, unescaped

}  // namespace respite
