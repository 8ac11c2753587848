// What the slow log and MONITOR may show of a request: passwords are hidden.
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "server/command_table.h"

namespace respite {

// The words, with "(redacted)" in the place of each secret. They are views of `words` and of constants.
// Cost: O(words); only for requests that somebody is going to see.
std::vector<Bytes> ShownWords(const Command& command, std::span<const Bytes> words);

}  // namespace respite
