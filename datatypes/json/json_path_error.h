// Checks paths with the grammar of Redis 8.6, and says what is wrong in its words.
//
//   path      "$" step…
//   step      ".." part   "." part   "[" brackets                   (in a filter, the first step may have no ".")
//   part      name   "*"   "[" brackets
//   brackets  "*" "]"   text , text … "]"   index , index … "]"   start : end : stride "]"   "?" condition "]"
//   condition term && term || term …
//   term      "(" condition ")"   operand   operand operator operand
//   operand   "@" step…   "$" step…   text   number   true   false   null
//
// JsonPathParser understands more: what Redis 8.10 has added.
#pragma once

#include <string>

#include "base/bytes.h"

namespace respite {

// Returns true for the characters of a name after a dot, as in Redis 8.6.
inline bool IsJsonNameCharacter(char c) {  // true: may be in a name after a dot
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || Bytes("_-+/%$^:~#`").find(c) != Bytes::npos;
}

// Requires: `path` begins with $. Returns for example "Error occurred at position 2, Error at position 2: expected one
// of the following: <string>, '*'"; positions count bytes from 0. Cost: O(bytes).
std::string DescribeJsonPathError(Bytes path);  // what Redis 8.6 finds wrong with a path; empty: nothing

}  // namespace respite
