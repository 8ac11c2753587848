// Requests as text, in the form in which a user would type them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

struct Command;
class CommandTable;

// Returns how many leading arguments of the request cannot be secrets; SIZE_MAX: all of them. Needed for a request that
// has not run or has failed, because Call::Redact has not hidden its secrets. `command`: null for an unknown command.
size_t NonSecretArgumentCount(const CommandTable& commands, const Command* command,  // how many words are no secrets
                              std::span<const Bytes> words);

// Returns conditions, which are arguments of TEST EXPECT or TEST AWAIT, on one line. Shortens arguments of more than
// 128 bytes.
std::string ConditionText(std::span<const Bytes> words);  // the conditions on one line; long arguments are shortened

// Returns the request on one line. Shortens arguments of more than 48 bytes, and shows only the first 12 arguments.
// Shows "(redacted)" instead of each argument from index `hidden_from` on, because these arguments may be secrets.
std::string RequestText(std::span<const Bytes> words, size_t hidden_from = SIZE_MAX);  // the request on one short line

}  // namespace respite
