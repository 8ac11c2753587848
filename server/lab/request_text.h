// Requests as people would type them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

struct Command;
class CommandTable;

// How many words of a request that has not run, or has failed, cannot be secrets: what Call::Redact would hide it has
// not hidden then. `command` is null where the words name none. SIZE_MAX: all of them.
size_t HarmlessWords(const CommandTable& commands, const Command* command, std::span<const Bytes> words);

// One line, with all words, long ones shortened: conditions of TEST EXPECT and TEST AWAIT.
std::string ConditionText(std::span<const Bytes> words);

// One line; long words and many words are shortened. Words from `hidden_from` on may be secrets, and are not shown.
std::string RequestText(std::span<const Bytes> words, size_t hidden_from = SIZE_MAX);

}  // namespace respite
