// The first line of a script: `#!lua name=mylib flags=no-writes,allow-oom`.
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
  // A script without a header: the flags of its commands are checked one by one.
  kScriptUndeclared = 1u << 5,
};

// Returns nullopt if there is no such flag.
std::optional<ScriptFlag> ScriptFlagOf(Bytes name);
// In the order in which FUNCTION LIST shows them.
std::vector<std::string_view> ScriptFlagNames(uint32_t flags);

// The words of a line that begins with "#!", split as in a configuration file; nullopt if it has no end or no words.
struct Shebang {
  std::string engine;                // "#!lua"
  std::vector<std::string> options;  // "name=mylib"
  size_t size;                       // of the line without its end
};
std::optional<Shebang> ReadShebang(Bytes body);

// What EVAL needs from the header: flags, and where the code begins (at the end of the line, so that line numbers stay
// correct).
struct ScriptHeader {
  uint32_t flags = kScriptUndeclared;
  size_t size = 0;
};
// The error is the text for the client, without "ERR". `knows_engines`: it speaks of engines that might be there.
Result<ScriptHeader> ReadScriptHeader(Bytes body, bool knows_engines = false);

}  // namespace respite
