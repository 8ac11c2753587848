// The HELP subcommand of a container: its lines between Redis' header and footer.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "server/execution/call.h"

namespace respite {

// Lines come in groups: the subcommand with its arguments, then its description, indented by four blanks. Omits the
// groups of subcommands that the server or its dialect does not have. A line in parentheses is always shown.
void WriteHelp(Call& call, std::span<const std::string_view> lines);                // the reply of a HELP subcommand
inline void WriteHelp(Call& call, std::initializer_list<std::string_view> lines) {  // the reply of a HELP subcommand
  WriteHelp(call, std::span(lines.begin(), lines.size()));
}

}  // namespace respite
