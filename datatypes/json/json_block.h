// The memory of arrays and objects, for the functions of JsonValue only.
//
// JsonPacked is the memory of an array that has only numbers, in 1, 2 or 4 bytes each:
//
//   | kind, type, size | number | number | …
//
// A type is used for an array only if each number is then read back exactly, with its kind. Integers have types of 8,
// 16 and 32 bits. Doubles have types for two meanings of a floating-point number with fewer bits: the number itself,
// and the shortest decimal number that rounds to it. So [0.5,0.25] takes 2 bytes per number, and so does [0.1,0.2],
// whose numbers are no floating-point numbers of 16 bits. Numbers of an embedding take 4 bytes if they were 32-bit
// numbers before they were written as JSON, whether all their digits were written or only the necessary ones.
#pragma once

#include <cstdint>
#include <span>

#include "datatypes/json/json_value.h"

namespace respite {

struct JsonValue::Block {  // the head of an array or an object; the items follow
  uint32_t size;           // number of elements or members
  uint32_t capacity;       // number of elements or members for which there is memory

  JsonValue* Elements() { return reinterpret_cast<JsonValue*>(this + 1); }   // the elements, if this is an array
  JsonMember* Members() { return reinterpret_cast<JsonMember*>(this + 1); }  // the members, if this is an object
  bool IsSorted() const { return capacity > kMaxUnsorted; }                  // true: an object that has Order()
  // Requires of both: IsSorted().
  uint32_t* Order() {  // the indexes of the members in Members(), sorted by name
    return reinterpret_cast<uint32_t*>(Members() + capacity);
  }
  Bytes NameAt(size_t place) { return Members()[Order()[place]].name.AsString(); }  // a name, by its place in Order()
};

enum class JsonPackedType : uint8_t {  // how the numbers of an array are stored
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kFloat16,     // IEEE 754 half precision
  kBfloat16,    // the upper half of a kFloat32
  kDecimal16,   // the shortest decimal number that rounds to the kFloat16
  kBdecimal16,  // the shortest decimal number that rounds to the kBfloat16
  kFloat32,
  kDecimal32,  // the shortest decimal number that rounds to the kFloat32
};

struct JsonPacked {  // the memory of an array of packed numbers; the numbers follow
  JsonKind kind;     // kArray; first, because JsonValue::Kind() reads it
  JsonPackedType type;
  uint32_t size;  // number of elements, at least one

  size_t Width() const;                        // bytes per number
  JsonValue At(size_t i) const;                // the number i
  bool Put(size_t i, const JsonValue& value);  // stores the number i; false: `value` does not fit the type
  bool Fits(const JsonValue& value) const;     // true: `value` could be stored without a loss
  char* Place(size_t i) { return reinterpret_cast<char*>(this + 1) + i * Width(); }  // the bytes of the number i
};
static_assert(sizeof(JsonPacked) == 8);

// Returns null if `values` has fewer than two elements, or one that is no number, or if no type fits all numbers.
JsonPacked* PackJsonNumbers(std::span<const JsonValue> values);  // new memory with the numbers; null: do not fit

}  // namespace respite
