// The first line of a library of functions: `#!lua name=mylib`.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

struct FunctionHeader {  // what the first line of a library says, such as `#!lua name=mylib`; the engine must be Lua
  std::string name;      // the name of the library
  size_t size;           // size of the line without its end; the code begins there, so that line numbers stay correct
};
// The error is the text for the client, without "ERR".
Result<FunctionHeader> ReadFunctionHeader(Bytes code);  // parses the first line of a library

inline constexpr char kBadFunctionName[] =
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";
bool IsLibraryOrFunctionName(Bytes name);  // true: only ASCII letters, digits and underscores, and at least one

}  // namespace respite
