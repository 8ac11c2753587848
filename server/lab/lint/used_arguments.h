// UsedArguments: which arguments of a syntax line the words of a request are.
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_syntax.h"

namespace respite {

struct UsedArgument {
  const SyntaxArgument* argument;
  const SyntaxArgument* marked;  // whose `since` counts: itself, or a group that it is in; null: nobody's
};

// In the order of the words, up to the first that does not fit; what it may be is taken for a value rather than for an
// option. Values that must be there are not told.
std::vector<UsedArgument> UsedArguments(const CommandSyntax& syntax, std::span<const Bytes> words);

}  // namespace respite
