// Reads the header of a script: its first line, if this begins with "#!", such as `#!lua flags=no-writes,allow-oom`.
// Also splits the header of a library, such as `#!lua name=mylib`, whose words function_header.h reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

enum ScriptFlag : uint32_t {
  kScriptNoWrites = 1u << 0,
  kScriptAllowOom = 1u << 1,
  kScriptAllowStale = 1u << 2,
  kScriptNoCluster = 1u << 3,
  kScriptAllowCrossSlotKeys = 1u << 4,
  // The flag of a script without a header: the server checks the flags of each command that the script runs. No header
  // can contain this flag.
  kScriptUndeclared = 1u << 5,
};

std::optional<ScriptFlag> FindScriptFlag(Bytes name);  // "no-writes" to kScriptNoWrites; nullopt: unknown
// Returns the names of the ScriptFlag bits in `flags`, such as "no-writes", in the order of FUNCTION LIST.
std::vector<std::string_view> ScriptFlagNames(uint32_t flags);  // names of ScriptFlag bits: "no-writes" …

// The words are split as in redis.conf. If the line cannot be split, for example because a quote is not closed,
// `engine` is empty.
struct Shebang {                     // the words of a script's first line that begins with "#!"
  std::string engine;                // the first word, such as "#!lua"; empty: the line cannot be split
  std::vector<std::string> options;  // the words after the first, such as "name=mylib"
  size_t size;                       // size of the line without its end
};
// Returns nullopt if the script has no line end, or if its first line contains a NUL byte or is longer than 64 KB.
std::optional<Shebang> ReadShebang(Bytes body);  // splits line 1; nullopt: no line end, a NUL byte in it, or too long

// The Lua code begins at the end of the header line, before its line end, so that Lua counts lines correctly.
struct ScriptHeader {                  // what the first line of a script declares, such as `#!lua flags=no-writes`
  uint32_t flags = kScriptUndeclared;  // ScriptFlag bits
  size_t size = 0;                     // index in the script of the first byte after the header; 0: no header
};
// Reads the header of a script. The error is the text for the client, without "ERR". With `knows_engines`, the error
// for an engine other than lua is that of Valkey 8.1: "Could not find scripting engine 'js'".
Result<ScriptHeader> ReadScriptHeader(Bytes body,  // parses the first line of a script
                                      bool knows_engines = false);

}  // namespace respite
