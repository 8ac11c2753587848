// UsedArguments: tells which arguments of a command's syntax a request uses.
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_syntax.h"

namespace respite {

struct UsedArgument {                        // an argument of a command's syntax that a request uses
  const SyntaxArgument* argument;            // the argument in the command's syntax
  const SyntaxArgument* versioned_argument;  // the argument or an enclosing group with a version (`since`); null: none
};

// Returns the tokens (options and fixed words) and the optional values that the request uses, in the order of the
// request. Stops at the first word that does not fit the syntax. Leaves out the values that every request must have. A
// word counts as an option only if enough words remain for these values.
std::vector<UsedArgument> UsedArguments(const CommandSyntax& syntax,  // tokens and optional values that a request uses
                                        std::span<const Bytes> words);

}  // namespace respite
