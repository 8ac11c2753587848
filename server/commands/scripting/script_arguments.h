// Arguments and flags that EVAL and FCALL share.
#pragma once

#include <span>

#include "scripting/script_header.h"
#include "server/catalogue/refusals.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {

inline constexpr char kKeysAboveArgs[] = "ERR Number of keys can't be greater than number of args";
inline constexpr char kNegativeKeys[] = "ERR Number of keys can't be negative";

}  // namespace refusals

struct ScriptArguments {  // arguments of EVAL and FCALL after the script or function name
  std::span<const Bytes> keys;
  std::span<const Bytes> args;

  // Takes the number of keys, the keys and the other arguments. `not_a_count` is the error if the number is not an
  // integer.
  static ScriptArguments Take(Args& args, const char* not_a_count = refusals::kNotInteger) {
    const int64_t count = args.NextInteger(not_a_count);
    if (count > static_cast<int64_t>(args.Left())) throw Refusal{refusals::kKeysAboveArgs};
    if (count < 0) throw Refusal{refusals::kNegativeKeys};
    const auto keys = args.NextMany(static_cast<size_t>(count));
    return {keys, args.Rest()};
  }
};

// As in Redis, a script that begins with a line `#!lua` decides by its flags whether EVAL or FCALL has the command
// flags kWrite, kDenyOom and kStale. Without this line, the command flags stay as they are.
uint32_t FlagsForScript(uint32_t command_flags, uint32_t script_flags);  // flags that EVAL or FCALL has for this script

}  // namespace respite
