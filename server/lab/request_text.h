// Requests as a user would type them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

struct Command;
class CommandTable;

// Returns how many leading words of the request cannot be secrets. SIZE_MAX if all of them are harmless. Needed for a
// request that has not run or has failed, because Call::Redact has not hidden its secrets. `command` is null if
// unknown.
size_t NonSecretArgumentCount(const CommandTable& commands, const Command* command, std::span<const Bytes> words);

// Returns one line with all arguments; long arguments are shortened. For the conditions of TEST EXPECT and TEST AWAIT.
std::string ConditionText(std::span<const Bytes> words);  // all arguments on one line; long ones are shortened

// Returns one line. Shortens long words and long requests. Does not show words from `hidden_from` on, which may be
// secrets.
std::string RequestText(std::span<const Bytes> words, size_t hidden_from = SIZE_MAX);

}  // namespace respite
