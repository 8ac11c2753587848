// The first line of a library of functions: `#!lua name=mylib`.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

struct FunctionHeader {
  std::string name;
  size_t size;  // of the line without its end; the code begins there, so that line numbers stay correct
};
// Reads the header line. The error is the text for the client, without "ERR".
Result<FunctionHeader> ReadFunctionHeader(Bytes code);

inline constexpr char kBadFunctionName[] =
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";
// Returns true if this is a valid name of a library or function.
bool IsFunctionName(Bytes name);

}  // namespace respite
