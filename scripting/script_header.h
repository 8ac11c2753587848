// The first line of a script or library, called the header: `#!lua name=mylib flags=no-writes,allow-oom`.
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
  // The script has no header, so the flags of its commands are checked one by one.
  kScriptUndeclared = 1u << 5,
};

std::optional<ScriptFlag> FindScriptFlag(Bytes name);  // the flag with this name; nullopt: unknown name
// Returns the names of the flags that are set, in the order in which FUNCTION LIST shows them.
std::vector<std::string_view> ScriptFlagNames(uint32_t flags);  // the names of these flags

// The words of a line that begins with "#!", split as in a configuration file. If the line cannot be split, `engine` is
// empty.
struct Shebang {                     // the words of a script's first line that begins with "#!"
  std::string engine;                // the first word, such as "#!lua"; empty: the line cannot be split
  std::vector<std::string> options;  // the words after the first, such as "name=mylib"
  size_t size;                       // size of the line without its end
};
std::optional<Shebang> ReadShebang(Bytes body);  // splits a script's first line; nullopt: no line end, or a zero byte

// The flags in the header of an EVAL script, and the place where the code begins. The code begins at the end of the
// header line, so that line numbers stay correct.
struct ScriptHeader {                  // what the first line of a script declares, such as `#!lua flags=no-writes`
  uint32_t flags = kScriptUndeclared;  // a bit for each ScriptFlag
  size_t size = 0;                     // where the code begins
};
// Reads the header of a script. The error is the text for the client, without "ERR". `knows_engines` means that, as in
// some versions of Valkey, an error can say that a scripting engine is missing.
Result<ScriptHeader> ReadScriptHeader(Bytes body,  // parses the first line of a script
                                      bool knows_engines = false);

}  // namespace respite
