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

// Returns how many words at the beginning of the request cannot be secrets, or SIZE_MAX if none can. Needed for a
// request that has not run or has failed, because Call::Redact has not hidden its secrets. `command` is null if it is
// unknown.
size_t NonSecretArgumentCount(const CommandTable& commands, const Command* command, std::span<const Bytes> words);

// Used to show the conditions of TEST EXPECT and TEST AWAIT.
std::string ConditionText(std::span<const Bytes> words);  // all arguments on one line, long ones shortened

// Returns the request on one line. Shortens long words and long requests. Hides the words from index `hidden_from` on,
// because they may be secrets.
std::string RequestText(std::span<const Bytes> words, size_t hidden_from = SIZE_MAX);  // hides words from this index on

}  // namespace respite
