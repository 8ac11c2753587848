// UsedArguments: matches the words of a request with the arguments of a command's syntax.
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

// Returns the used arguments in the order of the words, up to the first word that does not fit. An ambiguous word is
// taken for a value rather than for an option. Mandatory values are not listed.
std::vector<UsedArgument> UsedArguments(const CommandSyntax& syntax, std::span<const Bytes> words);

}  // namespace respite
