// Says what is wrong with a malformed JSON text, in the words of Redis.
#pragma once

#include <cstddef>
#include <string>

#include "base/bytes.h"

namespace respite {

// Requires: the text is malformed, or nested deeper than `max_depth`, or has a number that is out of range. Returns for
// example "expected value at line 1 column 3". Columns count bytes. Cost: O(bytes).
std::string DescribeJsonError(Bytes text, size_t max_depth);  // what is wrong with a malformed JSON text, and where

}  // namespace respite
