// The digest of a dataset, equal to the result of Redis' DEBUG DIGEST and DIGEST-VALUE for the same data.
//
//   Add(x)   d := d ^ SHA1(x)            for parts without order: members of a set, keys of a database
//   Mix(x)   d := SHA1(d ^ SHA1(x))      for parts in order: elements of a list, a field and its value
//
//   value    = Mix(type as 4 bytes, big endian), then the content:
//                string       Mix(text)
//                list         Mix(element) for each
//                set          Add(member) for each
//                hash         Add(pair) for each field, where pair is Mix(field), Mix(value) from zero, and
//                             Add("!!hexpire!!") when the field has a deadline
//                sorted set   for each member Add the result of Mix(member), Mix(score by ShortDoubleText) from zero
//                stream       Mix(ID as ms.seq), Mix(field), Mix(value) … for each entry; groups do not count
//                array        Mix(index), Mix(text) for each element
//                vector set   Add(element) for each, where element is name, vector and attributes (MixVectorSet)
//                JSON         Mix(the document as text)
//              and Add("!!expire!!") if the key has any deadline
//   key      = Mix(key name), then its value, from zero
//   dataset  = from zero, for each database with keys: Mix(number as 4 bytes, big endian), Add(key) for each,
//              where Add takes the SHA-1 of the key's digest
//
// Includes keys and fields that are expired but not removed yet. Cost: a few SHA-1 per element, O(n).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "datatypes/keyspace.h"

namespace respite {

class Digest {  // a SHA-1 value, computed step by step as DEBUG DIGEST does
 public:
  void Add(Bytes part);
  void Mix(Bytes part);
  void MixNumber(uint32_t number);  // continues the digest with a number as four bytes, big endian
  // The caller can Add or Mix these bytes into another digest.
  Bytes RawBytes() const {  // the 20 bytes of the digest so far; a view of the object
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  std::string Hex() const;

 private:
  std::array<uint8_t, 20> bytes_{};  // the SHA-1 value so far; at first all zero
};

void MixValue(Digest& digest, const Entry& entry);  // mixes in the value's type, content, and whether it has a deadline

Digest DigestOf(const Keyspace& keyspace);  // the digest of all databases, which DEBUG DIGEST prints

}  // namespace respite
