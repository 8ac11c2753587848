// UsedArguments: tells which arguments of a command's syntax a request uses.
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_syntax.h"

namespace respite {

struct UsedArgument {              // an argument of a command's syntax that a request uses
  const SyntaxArgument* argument;  // the argument in the command's syntax
  const SyntaxArgument* marked;    // the argument, or the group around it, that has a `since`; null: neither
};

// Returns the arguments of the syntax in the order of the request, up to the first word that does not fit. If a word
// can be a value or an option, it is taken for a value. Values that every request must have are not listed.
std::vector<UsedArgument> UsedArguments(const CommandSyntax& syntax, std::span<const Bytes> words);  // in syntax order

}  // namespace respite
