// UsedArguments: tells which arguments of a command's syntax a request uses.
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_syntax.h"

namespace respite {

struct UsedArgument {                        // an argument of a command's syntax that a request uses
  const SyntaxArgument* argument;            // the argument in the command's syntax
  const SyntaxArgument* versioned_argument;  // the argument or an enclosing group, with the version (`since`); or null
};

// Returns the options and optional values that the request uses, in the order of the request. Stops at the first word
// that does not fit the syntax. A word that can be a value or an option counts as a value. Omits values that every
// request must have.
std::vector<UsedArgument> UsedArguments(const CommandSyntax& syntax,  // options and optional values of a request
                                        std::span<const Bytes> words);

}  // namespace respite
